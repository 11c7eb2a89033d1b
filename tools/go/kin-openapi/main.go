// Loads and validates the documents of its arguments. Then it validates exchanges by the first.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"petstore/tools/exchange"
)

func load(file string) *openapi3.T {
	document, err := openapi3.NewLoader().LoadFromFile(file)
	if err == nil {
		// It does not know these fields of tags, which OpenAPI 3.2 adds.
		err = document.Validate(context.Background(), openapi3.AllowExtraSiblingFields("summary", "parent", "kind"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, file, err)
		os.Exit(1)
	}
	return document
}

func main() {
	document := load(os.Args[1])
	for _, file := range os.Args[2:] {
		load(file)
	}
	router, err := gorillamux.NewRouter(document)
	if err != nil {
		panic(err)
	}
	options := &openapi3filter.Options{
		IncludeResponseStatus: true,
		AuthenticationFunc:    openapi3filter.NoopAuthenticationFunc,
	}
	exchange.Run(func(request *http.Request, response *http.Response) (error, error) {
		route, parameters, err := router.FindRoute(request)
		if err != nil {
			return err, nil
		}
		input := &openapi3filter.RequestValidationInput{
			Request: request, PathParams: parameters, Route: route, Options: options,
		}
		ctx := context.Background()
		return openapi3filter.ValidateRequest(ctx, input), openapi3filter.ValidateResponse(ctx, &openapi3filter.ResponseValidationInput{
			RequestValidationInput: input, Status: response.StatusCode, Header: response.Header, Body: response.Body, Options: options,
		})
	})
}
