// Takes the tour with the client that openapi-generator makes for Go.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"tour/petstore"
)

var next = regexp.MustCompile(`<([^>]+)>; rel="next"`)

func main() {
	configuration := petstore.NewConfiguration()
	configuration.Servers = petstore.ServerConfigurations{{URL: os.Getenv("PETSTORE_BASE_URL")}}
	client := petstore.NewAPIClient(configuration)
	pets, store := client.PetsAPI, client.StoreAPI
	ctx := withKey(os.Getenv("PETSTORE_API_KEY"))

	// The same request with the same key adds nothing.
	var petId int64
	for _, word := range []string{"created", "again"} {
		created, _, err := pets.CreatePet(ctx).PetInput(*petstore.NewPetInput("Smaug", 4)).IdempotencyKey("tour").Execute()
		check(err)
		petId = created.Id
		fmt.Printf("%s %d: %s\n", word, petId, created.Name)
	}

	var sizes []string
	for list := pets.ListPets(ctx).Limit(8); ; {
		page, answer, err := list.Execute()
		check(err)
		sizes = append(sizes, strconv.Itoa(len(page)))
		more := next.FindStringSubmatch(answer.Header.Get("Link"))
		if more == nil {
			break
		}
		address, err := url.Parse(more[1])
		check(err)
		list = list.Cursor(address.Query().Get("cursor"))
	}
	fmt.Println("pages of", strings.Join(sizes, ", "))

	patch := petstore.NewPetPatch()
	patch.SetName("Smaug the Golden")
	renamed, _, err := pets.UpdatePet(ctx, petId).PetPatch(*patch).Execute()
	check(err)
	fmt.Printf("renamed %d: %s\n", renamed.Id, renamed.Name)

	placed := petstore.NewOrder()
	placed.SetPetId(13)
	placed.SetQuantity(2)
	order, _, err := store.PlaceOrder(ctx).Order(*placed).Execute()
	check(err)
	fmt.Printf("ordered %d: %d of %d, complete: %t\n", order.GetId(), order.GetQuantity(), order.GetPetId(), order.GetComplete())
	_, answer, err := store.GetOrder(ctx, 9).Execute()
	check(err)
	completion := petstore.NewOrderPatch()
	completion.SetComplete(true)
	update := store.UpdateOrder(ctx, 9).OrderPatch(*completion).IfMatch(answer.Header.Get("ETag"))
	order, _, err = update.Execute()
	check(err)
	fmt.Printf("changed %d: %d of %d, complete: %t\n", order.GetId(), order.GetQuantity(), order.GetPetId(), order.GetComplete())

	types := []petstore.EventType{petstore.EVENTTYPE_PET_CREATED, petstore.EVENTTYPE_PET_UPDATED}
	events, _, err := store.ListEvents(ctx).Type_(types).Execute()
	check(err)
	for _, event := range events {
		if created := event.PetCreated; created != nil {
			fmt.Printf("%s: %s\n", created.Type, created.Data.Name)
		}
		if updated := event.PetUpdated; updated != nil {
			fmt.Printf("%s: %s, was %s\n", updated.Type, updated.Data.Name, updated.Previous.GetName())
		}
	}

	// Errors that it expects, and limits, where a key is given that meets them soon.
	if freeKey := os.Getenv("PETSTORE_FREE_KEY"); freeKey != "" {
		_, _, err = update.Execute()
		fmt.Println(told(err))
		_, _, err = pets.GetCategory(ctx, 4711).Execute()
		fmt.Println(told(err))
		placed.SetQuantity(1000)
		_, _, err = store.PlaceOrder(ctx).Order(*placed).Execute()
		fmt.Println(told(err))
		_, _, err = pets.ListPets(withKey("pet_mistyped")).Execute()
		fmt.Println(told(err))

		free := withKey(freeKey)
		err = nil
		for asked := 0; err == nil && asked < 130; asked++ {
			_, answer, err = pets.ListPets(free).Limit(1).Execute()
		}
		field := answer.Header.Get
		fmt.Printf("%s: limit %s, remaining %s, reset and retry %s\n",
			told(err), field("X-RateLimit-Limit"), field("X-RateLimit-Remaining"), waits(field))
	}
}

func withKey(key string) context.Context {
	return context.WithValue(context.Background(), petstore.ContextAccessToken, key)
}

// told names the error by which a request was refused.
func told(err error) string {
	var refused *petstore.GenericOpenAPIError
	if !errors.As(err, &refused) {
		panic(fmt.Sprint("The request was not refused: ", err))
	}
	answered := refused.Model().(petstore.Error)
	return fmt.Sprintf("%d %s", answered.Status, answered.Code)
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

func check(err error) {
	if err != nil {
		panic(err)
	}
}
