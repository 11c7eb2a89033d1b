// Verifies a request to a webhook, which it reads from standard input, by the library of Standard Webhooks.
package main

import (
	"encoding/json"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	var received struct {
		Secret  string            `json:"secret"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
	}
	check(json.NewDecoder(os.Stdin).Decode(&received))
	webhook, err := standardwebhooks.NewWebhook(received.Secret)
	check(err)
	headers := http.Header{}
	for name, value := range received.Headers {
		headers.Set(name, value)
	}
	if err := webhook.Verify([]byte(received.Body), headers); err != nil {
		json.NewEncoder(os.Stdout).Encode(err.Error())
		return
	}
	json.NewEncoder(os.Stdout).Encode("verified")
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
