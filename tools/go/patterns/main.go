// Tells which texts each pattern accepts, by the package regexp.
package main

import (
	"encoding/json"
	"os"
	"regexp"
)

type testCase struct {
	Pattern string   `json:"pattern"`
	Texts   []string `json:"texts"`
}

func accepts(c testCase) any {
	compiled, err := regexp.Compile(c.Pattern)
	if err != nil {
		return err.Error()
	}
	accepted := make([]bool, len(c.Texts))
	for i, text := range c.Texts {
		accepted[i] = compiled.MatchString(text)
	}
	return accepted
}

func main() {
	var cases []testCase
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	results := make([]any, len(cases))
	for i, c := range cases {
		results[i] = accepts(c)
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		panic(err)
	}
}
