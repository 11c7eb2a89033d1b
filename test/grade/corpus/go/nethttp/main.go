// A shop's evening with net/http. Right, but for the mistake that it is told to make.
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	api, key  = os.Getenv("PETSTORE_BASE_URL"), os.Getenv("PETSTORE_API_KEY")
	mistake   = strings.Join(os.Args[1:], " ")
	temporary = []int{408, 429, 500, 502, 503, 504}
	next      = regexp.MustCompile(`<[^<>?]*([^<>]*)>[^<]*; *rel="?(?:[^"]* )?next\b`)
	client    = &http.Client{Timeout: 8 * time.Second}
)

const attempts = 6

type object = map[string]any

// onceReader hides the kind of a reader, so that net/http cannot read it again.
type onceReader struct{ io.Reader }

func send(method, target string, body object, etag string) (*http.Response, []byte, error) {
	url := target
	if !strings.HasPrefix(target, "http") {
		url = api + target
	}
	sent, _ := json.Marshal(body)
	var stream io.Reader = onceReader{bytes.NewReader(sent)}
	once := rand.Text()
	var last error
	for attempt := 1; attempt <= attempts; attempt++ {
		if mistake == "another date for each attempt" && target == "/store/orders" {
			body["shipDate"] = time.Now().AddDate(0, 0, 7)
			sent, _ = json.Marshal(body)
		}
		var reader io.Reader
		if body != nil {
			reader = bytes.NewReader(sent)
			if mistake == "sends the body once" {
				reader = stream
			}
		}
		request, err := http.NewRequest(method, url, reader)
		if err != nil {
			return nil, nil, err
		}
		if mistake == "forwards its key" {
			request.Header.Set("X-API-Key", key)
		} else {
			request.Header.Set("Authorization", "Bearer "+key)
		}
		if body != nil {
			request.Header.Set("Content-Type", "application/json")
		}
		if method == "POST" && mistake != "no key" {
			request.Header.Set("Idempotency-Key", once)
		}
		if etag != "" {
			request.Header.Set("If-Match", etag)
		}
		wait := time.Duration(float64(200*time.Millisecond) * float64(int(1)<<attempt) * (0.5 + mathrand.Float64()/2))
		answer, data, err := do(request)
		if err == nil {
			if answer.StatusCode < 300 || answer.StatusCode == 412 {
				return answer, data, nil
			}
			if method == "DELETE" && answer.StatusCode == 404 && attempt > 1 {
				return answer, data, nil
			}
			var problem struct{ Code string }
			_ = json.Unmarshal(data, &problem)
			mayPass := slices.Contains(temporary, answer.StatusCode) || problem.Code == "key_banned" ||
				problem.Code == "idempotency_key_in_use" || (answer.StatusCode == 401 && attempt == 1)
			told := toldBy(answer.Header.Get("Retry-After"))
			err = fmt.Errorf("%s %s: %d %.80s", method, target, answer.StatusCode, data)
			if !mayPass || told > 90*time.Second {
				return nil, nil, err
			}
			wait = max(wait, told+50*time.Millisecond)
		}
		last = err
		time.Sleep(wait)
	}
	return nil, nil, last
}

func do(request *http.Request) (*http.Response, []byte, error) {
	answer, err := client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err == nil && len(data) > 0 && !json.Valid(data) && mistake == "ends well after HTML" {
		fmt.Println("not JSON:", answer.Status)
		os.Exit(0)
	}
	return answer, data, err
}

func toldBy(field string) time.Duration {
	if seconds, err := strconv.ParseInt(field, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(field); err == nil {
		return time.Until(date)
	}
	return 0
}

type pet struct {
	ID   id     `json:"id"`
	Name string `json:"name"`
}

type id int64

func (i *id) UnmarshalJSON(text []byte) (err error) {
	if mistake == "rounds ids" {
		var number float64
		err = json.Unmarshal(text, &number)
		*i = id(number)
		return err
	}
	return json.Unmarshal(text, (*int64)(i))
}

func run() error {
	if strings.HasPrefix(mistake, "no time limit") {
		client.Timeout = 0
	}
	if mistake == "no time limit for bodies" {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.ResponseHeaderTimeout = 8 * time.Second
		client.Transport = transport
	}
	pets, seen := []pet{}, map[string]bool{}
	for target := "/pets?limit=8"; target != "" && !seen[target]; {
		seen[target] = true
		answer, data, err := send("GET", target, nil, "")
		if err != nil {
			return err
		}
		var page []pet
		if err := json.Unmarshal(data, &page); err != nil {
			return err
		}
		pets = append(pets, page...)
		target = ""
		if link := next.FindStringSubmatch(answer.Header.Get("Link")); link != nil {
			// Only the query of the link, so that the key stays at the API.
			target = "/pets" + link[1]
		}
	}
	fmt.Println("TOTAL", len(pets))
	var dragons, added pet
	if err := create("/categories", object{"name": "Dragons"}, &dragons); err != nil {
		return err
	}
	for _, name := range []string{"Smaug", "Fafnir", "Norbert"} {
		if err := create("/pets", object{"name": name, "categoryId": dragons.ID}, &added); err != nil {
			return err
		}
		if err := sell(added); err != nil {
			return err
		}
		if err := rename(added, name+" the Great"); err != nil {
			return err
		}
		fmt.Println(name, "is the Great, and sold once")
	}
	_, _, err := send("DELETE", fmt.Sprint("/pets/", added.ID), nil, "")
	return err
}

func create(target string, body object, into *pet) error {
	_, data, err := send("POST", target, body, "")
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

func sell(sold pet) error {
	if _, _, err := send("PATCH", fmt.Sprint("/inventory/", sold.ID), object{"quantity": 4}, ""); err != nil {
		return err
	}
	var order pet
	if err := create("/store/orders", object{"petId": sold.ID, "quantity": 1}, &order); err != nil {
		return err
	}
	_, _, err := send("PATCH", fmt.Sprint("/store/orders/", order.ID), object{"complete": true}, "")
	return err
}

func rename(renamed pet, name string) error {
	for range 8 {
		answer, data, err := send("GET", fmt.Sprint("/pets?id=", renamed.ID), nil, "")
		if err != nil {
			return err
		}
		var found []pet
		if err := json.Unmarshal(data, &found); err != nil || len(found) != 1 {
			return errors.Join(err, errors.New("the pet is gone"))
		}
		if found[0].Name == name {
			return nil
		}
		target := fmt.Sprint("/pets/", renamed.ID)
		changed, _, err := send("PATCH", target, object{"name": name}, answer.Header.Get("ETag"))
		if err == nil && changed.StatusCode == 412 && mistake == "overwrites after 412" {
			_, _, err = send("PATCH", target, object{"name": name}, "")
			return err
		}
		if err != nil || changed.StatusCode != 412 {
			return err
		}
	}
	return errors.New("somebody else is always faster")
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
