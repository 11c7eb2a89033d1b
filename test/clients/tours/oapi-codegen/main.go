// Takes the tour with the client that oapi-codegen makes.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"tour/petstore"
)

var (
	ctx  = context.Background()
	next = regexp.MustCompile(`<([^>]+)>; rel="next"`)
)

func main() {
	client := clientOf(os.Getenv("PETSTORE_API_KEY"))

	// The same request with the same key adds nothing.
	var petId int64
	for _, word := range []string{"created", "again"} {
		answer, err := client.CreatePetWithResponse(ctx,
			&petstore.CreatePetParams{IdempotencyKey: of("tour")}, petstore.NewPet{Name: "Smaug", CategoryId: 4})
		check(err)
		petId = answer.JSON201.Id
		fmt.Printf("%s %d: %s\n", word, petId, answer.JSON201.Name)
	}

	var sizes []string
	for params := (petstore.ListPetsParams{Limit: of[int32](8)}); ; {
		page, err := client.ListPetsWithResponse(ctx, &params)
		check(err)
		sizes = append(sizes, strconv.Itoa(len(*page.JSON200)))
		more := next.FindStringSubmatch(page.HTTPResponse.Header.Get("Link"))
		if more == nil {
			break
		}
		address, err := url.Parse(more[1])
		check(err)
		params.Cursor = of(address.Query().Get("cursor"))
	}
	fmt.Println("pages of", strings.Join(sizes, ", "))

	renamed, err := client.UpdatePetWithResponse(ctx, petId, nil, petstore.PetPatch{Name: of("Smaug the Golden")})
	check(err)
	fmt.Printf("renamed %d: %s\n", renamed.JSON200.Id, renamed.JSON200.Name)

	place := func(quantity int32) *petstore.PlaceOrderResponse {
		answer, err := client.PlaceOrderWithResponse(ctx, nil, petstore.Order{PetId: of[int64](13), Quantity: &quantity})
		check(err)
		return answer
	}
	order := place(2).JSON201
	fmt.Printf("ordered %d: %d of %d, complete: %t\n", *order.Id, *order.Quantity, *order.PetId, *order.Complete)
	got, err := client.GetOrderWithResponse(ctx, 9, nil)
	check(err)
	complete := func() *petstore.UpdateOrderResponse {
		params := petstore.UpdateOrderParams{IfMatch: of(got.HTTPResponse.Header.Get("ETag"))}
		answer, err := client.UpdateOrderWithResponse(ctx, 9, &params, petstore.OrderPatch{Complete: of(true)})
		check(err)
		return answer
	}
	order = complete().JSON200
	fmt.Printf("changed %d: %d of %d, complete: %t\n", *order.Id, *order.Quantity, *order.PetId, *order.Complete)

	types := []petstore.EventType{petstore.EventTypePetCreated, petstore.EventTypePetUpdated}
	events, err := client.ListEventsWithResponse(ctx, &petstore.ListEventsParams{Type: &types})
	check(err)
	for _, event := range *events.JSON200 {
		value, err := event.ValueByDiscriminator()
		check(err)
		switch event := value.(type) {
		case petstore.PetCreated:
			fmt.Printf("%s: %s\n", event.Type, event.Data.Name)
		case petstore.PetUpdated:
			fmt.Printf("%s: %s, was %s\n", event.Type, event.Data.Name, *event.Previous.Name)
		}
	}

	// Errors that it expects, and limits, where a key is given that meets them soon.
	if freeKey := os.Getenv("PETSTORE_FREE_KEY"); freeKey != "" {
		fmt.Println(told(complete().Body))
		missing, err := client.GetCategoryWithResponse(ctx, 4711, nil)
		check(err)
		fmt.Println(told(missing.Body))
		fmt.Println(told(place(1000).Body))
		mistyped, err := clientOf("pet_mistyped").ListPetsWithResponse(ctx, nil)
		check(err)
		fmt.Println(told(mistyped.Body))

		free := clientOf(freeKey)
		var answer *petstore.ListPetsResponse
		for asked := 0; asked < 130; asked++ {
			answer, err = free.ListPetsWithResponse(ctx, &petstore.ListPetsParams{Limit: of[int32](1)})
			check(err)
			if answer.StatusCode() != http.StatusOK {
				break
			}
		}
		field := answer.HTTPResponse.Header.Get
		fmt.Printf("%s: limit %s, remaining %s, reset and retry %s\n",
			told(answer.Body), field("X-RateLimit-Limit"), field("X-RateLimit-Remaining"), waits(field))
	}
}

func clientOf(key string) *petstore.ClientWithResponses {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+key)
		return nil
	}
	client, err := petstore.NewClientWithResponses(os.Getenv("PETSTORE_BASE_URL"), petstore.WithRequestEditorFn(authorize))
	check(err)
	return client
}

// told names the error by which a request was refused. Each status has a field of its own for it, such as JSON404.
func told(body []byte) string {
	var refused petstore.Error
	check(json.Unmarshal(body, &refused))
	return fmt.Sprintf("%d %s", refused.Status, refused.Code)
}

// waits tells how long to wait, by the header fields of an answer.
func waits(field func(string) string) string {
	reset, err := strconv.ParseInt(field("X-RateLimit-Reset"), 10, 64)
	check(err)
	after, err := strconv.ParseInt(field("Retry-After"), 10, 64)
	check(err)
	if waitSeconds := max(reset-time.Now().Unix(), after); 0 < waitSeconds && waitSeconds <= 60 {
		return "within 60 s"
	}
	return fmt.Sprintf("at %d and after %d s", reset, after)
}

// of gives the address of a value, as optional fields want it.
func of[T any](value T) *T {
	return &value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
