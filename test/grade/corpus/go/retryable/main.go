// A shop's evening with go-retryablehttp. Right, but for the mistake that it is told to make.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

var (
	api, key = os.Getenv("PETSTORE_BASE_URL"), os.Getenv("PETSTORE_API_KEY")
	mistake  = strings.Join(os.Args[1:], " ")
	client   = retryablehttp.NewClient()
)

type object = map[string]any

// mayPass reads a refusal, and puts its body back.
func mayPass(answer *http.Response) bool {
	data, _ := io.ReadAll(answer.Body)
	answer.Body = io.NopCloser(bytes.NewReader(data))
	text := string(data)
	return strings.Contains(text, "key_banned") || strings.Contains(text, "idempotency_key_in_use")
}

func setUp() {
	client.Logger = nil
	client.RetryMax = 5
	client.RetryWaitMin, client.RetryWaitMax = 200*time.Millisecond, 5*time.Second
	client.HTTPClient.Timeout = 8 * time.Second
	if mistake == "no time limit" {
		client.HTTPClient.Timeout = 0
	}
	client.CheckRetry = func(ctx context.Context, answer *http.Response, err error) (bool, error) {
		if answer != nil && (answer.StatusCode == 403 || answer.StatusCode == 409) {
			return mayPass(answer), nil
		}
		if answer != nil && answer.StatusCode == 408 {
			return true, nil
		}
		// The library waits for days, too, if it is told to.
		if answer != nil && retryablehttp.DefaultBackoff(0, 0, 0, answer) > 90*time.Second {
			return false, nil
		}
		return retryablehttp.DefaultRetryPolicy(ctx, answer, err)
	}
	client.Backoff = func(least, most time.Duration, attempt int, answer *http.Response) time.Duration {
		if mistake == "ignores Retry-After" {
			return retryablehttp.DefaultBackoff(least, most, attempt, nil)
		}
		// The library waits after 429 and 503 alone, and not at all after a date that is over.
		if answer != nil && (answer.StatusCode == 403 || answer.StatusCode == 409) {
			answer.StatusCode = 429
		}
		told := retryablehttp.DefaultBackoff(least, most, attempt, answer)
		return max(told, retryablehttp.DefaultBackoff(least, most, attempt, nil))
	}
}

func send(method, target string, body object, into any) error {
	var sent any
	if body != nil {
		sent, _ = json.Marshal(body)
	}
	request, err := retryablehttp.NewRequest(method, api+target, sent)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if method == "POST" && mistake != "no key" {
		request.Header.Set("Idempotency-Key", rand.Text())
	}
	// The library does not send again when a body ends too soon, nor after 401.
	for attempt := 1; ; attempt++ {
		answer, err := client.Do(request)
		if err != nil {
			return err
		}
		data, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err == nil && answer.StatusCode < 300 {
			return json.Unmarshal(data, into)
		}
		if attempt == 4 || (err == nil && (answer.StatusCode != 401 || attempt > 1)) {
			return fmt.Errorf("%s %s: %d %.80s %v", method, target, answer.StatusCode, data, err)
		}
		time.Sleep(time.Duration(attempt*attempt) * 300 * time.Millisecond)
	}
}

type thing struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

func run() error {
	setUp()
	var dragons, pet, order, done thing
	if err := send("POST", "/categories", object{"name": "Dragons"}, &dragons); err != nil {
		return err
	}
	for _, name := range []string{"Smaug", "Fafnir", "Norbert"} {
		if err := send("POST", "/pets", object{"name": name, "categoryId": dragons.ID}, &pet); err != nil {
			return err
		}
		if err := send("PATCH", fmt.Sprint("/inventory/", pet.ID), object{"quantity": 4}, &done); err != nil {
			return err
		}
		for range 2 {
			if err := send("POST", "/store/orders", object{"petId": pet.ID, "quantity": 1}, &order); err != nil {
				return err
			}
			target := fmt.Sprint("/store/orders/", order.ID)
			if err := send("PATCH", target, object{"complete": true}, &done); err != nil {
				return err
			}
		}
		fmt.Println(name, "was sold twice")
	}
	var found []thing
	if err := send("GET", fmt.Sprint("/pets?id=", pet.ID), nil, &found); err != nil {
		return err
	}
	fmt.Println("The last one is", found[0].Name)
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
