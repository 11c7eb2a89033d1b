// Validates the documents of its arguments by speakeasy-api/openapi, and writes the ids of their operations.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/speakeasy-api/openapi/openapi"
)

func main() {
	isValid := true
	for _, name := range os.Args[1:] {
		file, err := os.Open(name)
		check(err)
		document, found, err := openapi.Unmarshal(context.Background(), file)
		check(err)
		for _, err := range found {
			fmt.Fprintln(os.Stderr, name, err)
			isValid = false
		}
		for item := range openapi.Walk(context.Background(), document) {
			check(item.Match(openapi.Matcher{Operation: writeId}))
		}
	}
	if !isValid {
		os.Exit(1)
	}
}

// An operation of a callback has no id.
func writeId(operation *openapi.Operation) error {
	if id := operation.GetOperationID(); id != "" {
		fmt.Println(id)
	}
	return nil
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
