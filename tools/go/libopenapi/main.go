// Builds and validates the documents of its arguments. Then it validates exchanges by the first.
package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	validationErrors "github.com/pb33f/libopenapi-validator/errors"

	"petstore/tools/exchange"
)

func load(file string) validator.Validator {
	text, err := os.ReadFile(file)
	check(file, err)
	document, err := libopenapi.NewDocument(text)
	check(file, err)
	loaded, errs := validator.NewValidator(document)
	check(file, errors.Join(errs...))
	_, found := loaded.ValidateDocument()
	check(file, joined(found))
	return loaded
}

func joined(found []*validationErrors.ValidationError) error {
	var errs []error
	for _, one := range found {
		errs = append(errs, one)
		for _, cause := range one.SchemaValidationErrors {
			errs = append(errs, cause)
		}
	}
	return errors.Join(errs...)
}

func check(file string, err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, file, err)
		os.Exit(1)
	}
}

func main() {
	loaded := load(os.Args[1])
	for _, file := range os.Args[2:] {
		load(file)
	}
	exchange.Run(func(request *http.Request, response *http.Response) (error, error) {
		_, inRequest := loaded.ValidateHttpRequest(request)
		_, inResponse := loaded.ValidateHttpResponse(request, response)
		return joined(inRequest), joined(inResponse)
	})
}
