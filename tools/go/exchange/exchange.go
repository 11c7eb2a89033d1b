// Package exchange sends requests from standard input, and writes what a validator says of each request and response.
package exchange

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
)

type request struct {
	Name    string            `json:"name"`
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

type verdict struct {
	Name     string `json:"name"`
	Status   int    `json:"status"`
	Request  string `json:"request"`
	Response string `json:"response"`
}

// Validator says what is wrong with a request and its response. It can read both bodies.
type Validator func(*http.Request, *http.Response) (request, response error)

// Run sends the requests one after the other.
func Run(validate Validator) {
	var requests []request
	check(json.NewDecoder(os.Stdin).Decode(&requests))
	verdicts := make([]verdict, len(requests))
	for i, one := range requests {
		verdicts[i] = send(one, validate)
	}
	check(json.NewEncoder(os.Stdout).Encode(verdicts))
}

func send(one request, validate Validator) verdict {
	sent, validated := one.build(), one.build()
	response, err := http.DefaultClient.Do(sent)
	check(err)
	body, err := io.ReadAll(response.Body)
	check(err)
	check(response.Body.Close())
	response.Body = io.NopCloser(bytes.NewReader(body))
	requestError, responseError := validate(validated, response)
	return verdict{one.Name, response.StatusCode, text(requestError), text(responseError)}
}

func (one request) build() *http.Request {
	built, err := http.NewRequest(one.Method, one.URL, bytes.NewBufferString(one.Body))
	check(err)
	for name, value := range one.Headers {
		built.Header.Set(name, value)
	}
	return built
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
