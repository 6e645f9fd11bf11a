package bigquery

// NUMERIC and BIGNUMERIC: scaled integers, in text, in numbers and in little-endian bytes; written plain, without zeros at the end.

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

type decimalType struct {
	name  string
	scale int
	limit *big.Int // the largest magnitude of the scaled integer; the smallest of BIGNUMERIC is one below its negative
	below *big.Int
}

var (
	numericType = &decimalType{name: "NUMERIC", scale: 9, limit: tens(38, -1), below: new(big.Int).Neg(tens(38, -1))}
	bigType     = &decimalType{name: "BIGNUMERIC", scale: 38, limit: twos(255, -1), below: new(big.Int).Neg(twos(255, 0))}
)

func tens(exponent int64, add int64) *big.Int {
	n := new(big.Int).Exp(big.NewInt(10), big.NewInt(exponent), nil)
	return n.Add(n, big.NewInt(add))
}

func twos(exponent uint, add int64) *big.Int {
	n := new(big.Int).Lsh(big.NewInt(1), exponent)
	return n.Add(n, big.NewInt(add))
}

var decimalForm = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?$`)

func (d *decimalType) fromText(f *field, text string) (string, error) {
	text = strings.TrimSpace(text)
	if !decimalForm.MatchString(text) {
		return "", fmt.Errorf("Invalid %s value: %s", d.name, text)
	}
	value, ok := new(big.Rat).SetString(text)
	if !ok {
		return "", fmt.Errorf("Invalid %s value: %s", d.name, text)
	}
	return d.fit(f, value, text)
}

func (d *decimalType) fromReal(f *field, x float64) (string, error) {
	return d.fromText(f, strconv.FormatFloat(x, 'g', -1, 64))
}

func (d *decimalType) fromInt(f *field, n int64) (string, error) {
	return d.fit(f, new(big.Rat).SetInt64(n), strconv.FormatInt(n, 10))
}

// Two's complement, little endian.
func (d *decimalType) fromBytes(f *field, bytes []byte) (string, error) {
	if len(bytes) > 32 {
		return "", fmt.Errorf("Invalid %s value: %d bytes", d.name, len(bytes))
	}
	n := new(big.Int)
	for i := len(bytes) - 1; i >= 0; i-- {
		n.Lsh(n, 8).Or(n, big.NewInt(int64(bytes[i])))
	}
	if len(bytes) > 0 && bytes[len(bytes)-1]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(bytes))))
	}
	return d.fit(f, new(big.Rat).SetFrac(n, tens(int64(d.scale), 0)), n.String())
}

// fit rounds to the column's scale and checks its range.
func (d *decimalType) fit(f *field, value *big.Rat, said string) (string, error) {
	scale := d.scale
	if f.precision > 0 {
		scale = int(f.scale)
	}
	scaled := new(big.Rat).Mul(value, new(big.Rat).SetInt(tens(int64(scale), 0)))
	n := roundRat(scaled, f.halfEven)
	if f.precision > 0 && new(big.Int).Abs(n).Cmp(tens(f.precision, -1)) > 0 {
		return "", fmt.Errorf("Field %s: %s(%d, %d) has precision %d and scale %d but got a value that is not in range: %s",
			f.name, d.name, f.precision, f.scale, f.precision, f.scale, said)
	}
	n.Mul(n, tens(int64(d.scale-scale), 0))
	if n.Cmp(d.limit) > 0 || n.Cmp(d.below) < 0 {
		return "", fmt.Errorf("%s out of range: %s", d.name, said)
	}
	return plainDecimal(n, d.scale), nil
}

// Half away from zero, or half to even.
func roundRat(value *big.Rat, halfEven bool) *big.Int {
	twice := new(big.Int).Mul(value.Num(), big.NewInt(2))
	quotient, rest := new(big.Int).QuoRem(new(big.Int).Abs(twice), new(big.Int).Mul(value.Denom(), big.NewInt(2)), new(big.Int))
	half := rest.Cmp(value.Denom())
	if half > 0 || half == 0 && (!halfEven || quotient.Bit(0) == 1) {
		quotient.Add(quotient, big.NewInt(1))
	}
	if value.Sign() < 0 {
		quotient.Neg(quotient)
	}
	return quotient
}

func plainDecimal(n *big.Int, scale int) string {
	digits := new(big.Int).Abs(n).String()
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale+1-len(digits)) + digits
	}
	text := strings.TrimRight(digits[:len(digits)-scale]+"."+digits[len(digits)-scale:], "0")
	text = strings.TrimSuffix(text, ".")
	if n.Sign() < 0 {
		text = "-" + text
	}
	return text
}
