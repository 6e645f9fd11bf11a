package pubsub

// Filters of subscriptions: attributes only, AND and OR not mixed without parentheses, as Google's documentation has it.

import (
	"strings"
)

type filter func(attributes map[string]string) bool

const filterBytes = 256

type filterParser struct {
	text string
	word string // the next one; "" at the end
	kind byte   // of it: 'w' word, '"' text in quotes, else the character itself
	err  error
}

func isWordByte(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// step reads the next word.
func (p *filterParser) step() {
	p.text = strings.TrimLeft(p.text, " \t\r\n")
	p.word, p.kind = "", 0
	if p.text == "" {
		return
	}
	end := 1
	switch c := p.text[0]; {
	case c == '"':
		p.quoted()
		return
	case isWordByte(c) && c != '-':
		for end < len(p.text) && isWordByte(p.text[end]) {
			end++
		}
		p.kind = 'w'
	case strings.HasPrefix(p.text, "!="):
		end, p.kind = 2, '!'
	default:
		p.kind = c
	}
	p.word, p.text = p.text[:end], p.text[end:]
}

func (p *filterParser) quoted() {
	var made strings.Builder
	for i := 1; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '\\' && i+1 < len(p.text):
			i++
			made.WriteByte(p.text[i])
		case c == '"':
			p.word, p.kind, p.text = made.String(), '"', p.text[i+1:]
			return
		default:
			made.WriteByte(c)
		}
	}
	p.fail("a text in quotes does not end")
}

func (p *filterParser) fail(why string) {
	if p.err == nil {
		p.err = invalid("Invalid filter: %s near '%.20s'.", why, p.word+p.text)
	}
	p.kind, p.word, p.text = 0, "", ""
}

func (p *filterParser) take(kind byte, what string) string {
	word := p.word
	if p.kind != kind {
		p.fail("expected " + what)
		return ""
	}
	p.step()
	return word
}

func (p *filterParser) is(word string) bool { return p.kind == 'w' && p.word == word }

// parseFilter gives nil for the empty filter, which all messages pass.
func parseFilter(text string) (filter, error) {
	if text == "" {
		return nil, nil
	}
	if len(text) > filterBytes {
		return nil, invalid("Invalid filter: it has %d bytes, at most %d are taken.", len(text), filterBytes)
	}
	p := &filterParser{text: text}
	p.step()
	made := p.expression()
	if p.err == nil && (p.kind != 0 || p.text != "") {
		p.fail("expected the end")
	}
	return made, p.err
}

func (p *filterParser) expression() filter {
	made := []filter{p.term()}
	joint := ""
	for p.is("AND") || p.is("OR") {
		if joint != "" && p.word != joint {
			p.fail("AND and OR need parentheses")
			break
		}
		joint = p.word
		p.step()
		made = append(made, p.term())
	}
	if joint == "" {
		return made[0]
	}
	return func(attributes map[string]string) bool {
		for _, one := range made {
			if one(attributes) != (joint == "AND") {
				return joint == "OR"
			}
		}
		return joint == "AND"
	}
}

func (p *filterParser) term() filter {
	switch {
	case p.is("NOT") || p.kind == '-':
		p.step()
		inner := p.term()
		return func(attributes map[string]string) bool { return !inner(attributes) }
	case p.kind == '(':
		p.step()
		inner := p.expression()
		p.take(')', "')'")
		return inner
	case p.is("hasPrefix"):
		return p.prefix()
	}
	return p.comparison()
}

func (p *filterParser) prefix() filter {
	p.step()
	p.take('(', "'('")
	p.attributes()
	p.take('.', "'.'")
	key := p.key()
	p.take(',', "','")
	value := p.take('"', "a text in quotes")
	p.take(')', "')'")
	return func(attributes map[string]string) bool {
		is, has := attributes[key]
		return has && strings.HasPrefix(is, value)
	}
}

func (p *filterParser) attributes() {
	if !p.is("attributes") {
		p.fail("expected attributes")
		return
	}
	p.step()
}

func (p *filterParser) key() string {
	if p.kind == '"' {
		return p.take('"', "a key")
	}
	return p.take('w', "a key")
}

func (p *filterParser) comparison() filter {
	p.attributes()
	if p.kind == ':' {
		p.step()
		key := p.key()
		return func(attributes map[string]string) bool {
			_, has := attributes[key]
			return has
		}
	}
	p.take('.', "'.' or ':'")
	key := p.key()
	isEqual := p.kind == '='
	if !isEqual && p.kind != '!' {
		p.fail("expected = or !=")
	}
	p.step()
	value := p.take('"', "a text in quotes")
	return func(attributes map[string]string) bool {
		is, has := attributes[key]
		return (has && is == value) == isEqual
	}
}
