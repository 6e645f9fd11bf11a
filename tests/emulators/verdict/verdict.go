// Package verdict ends a judge's scenario at its first wrong answer, so that the steps of one read as a list.
package verdict

import (
	"fmt"
	"reflect"
)

type wrong struct{ error }

// Must leaves the scenario with an error.
func Must(err error) {
	if err != nil {
		panic(wrong{err})
	}
}

// Wrong leaves it in words.
func Wrong(format string, words ...any) {
	panic(wrong{fmt.Errorf(format, words...)})
}

// Equal leaves it unless both are the same in depth.
func Equal(what string, got, expected any) {
	if !reflect.DeepEqual(got, expected) {
		Wrong("%s: got %#v, expected %#v", what, got, expected)
	}
}

// IsTrue leaves it unless it is; `more` says what was found.
func IsTrue(what string, is bool, more ...any) {
	if !is {
		Wrong("%s: %v", what, more)
	}
}

// Found gives the wrong answer that recover() has met, or nil. A panic of another kind is a fault of the judge and goes on: taken
// as well it would look like a scenario that passed.
func Found(thrown any) error {
	if thrown == nil {
		return nil
	}
	found, is := thrown.(wrong)
	if !is {
		panic(thrown)
	}
	return found.error
}
