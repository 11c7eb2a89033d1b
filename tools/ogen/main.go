// Uses the client that ogen makes.
package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/ogen-go/ogen/ogenerrors"

	"trip/petstore"
)

type key string

func (key) ApiKeyAuth(context.Context, petstore.OperationName) (petstore.ApiKeyAuth, error) {
	return petstore.ApiKeyAuth{}, ogenerrors.ErrSkipClientSecurity
}

func (k key) BearerAuth(context.Context, petstore.OperationName) (petstore.BearerAuth, error) {
	return petstore.BearerAuth{Token: string(k)}, nil
}

var next = regexp.MustCompile(`<([^>]+)>; rel="next"`)

func main() {
	ctx := context.Background()
	client := must(petstore.NewClient(os.Getenv("PETSTORE_BASE_URL"), key(os.Getenv("PETSTORE_API_KEY"))))

	created := must(client.CreatePet(ctx, &petstore.NewPet{Name: "Smaug", CategoryId: 4}, petstore.CreatePetParams{}))
	pet := created.(*petstore.PetHeaders).Response
	fmt.Printf("created %d: %s\n", pet.ID, pet.Name)

	var sizes []string
	for params := (petstore.ListPetsParams{Limit: petstore.NewOptInt32(8)}); ; {
		page := must(client.ListPets(ctx, params)).(*petstore.PetsHeaders)
		sizes = append(sizes, fmt.Sprint(len(page.Response)))
		more := next.FindStringSubmatch(page.Link.Or(""))
		if more == nil {
			break
		}
		params.Cursor = petstore.NewOptString(must(url.Parse(more[1])).Query().Get("cursor"))
	}
	fmt.Println("pages of", strings.Join(sizes, ", "))

	wanted := &petstore.Order{PetId: petstore.NewOptInt64(13), Quantity: petstore.NewOptInt32(2)}
	placed := must(client.PlaceOrder(ctx, wanted, petstore.PlaceOrderParams{}))
	order := placed.(*petstore.OrderHeaders).Response
	fmt.Printf("ordered %d: %d of %d\n", order.ID.Value, order.Quantity.Value, order.PetId.Value)

	events := must(client.ListEvents(ctx, petstore.ListEventsParams{After: petstore.NewOptInt64(1)}))
	for _, event := range events.(*petstore.EventsHeaders).Response {
		switch event.Type {
		case petstore.PetCreatedEvent:
			fmt.Printf("%s: %s\n", event.Type, event.PetCreated.Data.Name)
		case petstore.InventoryUpdatedEvent:
			change := event.InventoryUpdated
			fmt.Printf("%s: %d, was %d\n", event.Type, change.Data.Quantity, change.Previous.Quantity.Value)
		}
	}

	missing := must(client.GetCategory(ctx, petstore.GetCategoryParams{CategoryId: 4711}))
	refused := missing.(*petstore.NotFoundHeaders).Response
	fmt.Println(refused.Status, refused.Code)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
