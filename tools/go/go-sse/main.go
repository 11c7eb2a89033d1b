// Reads the stream of events by go-sse, after the event with the id 1 until that with the id 4.
package main

import (
	"fmt"
	"net/http"
	"os"

	"github.com/tmaxmax/go-sse"
)

func main() {
	request, err := http.NewRequest(http.MethodGet, os.Getenv("PETSTORE_BASE_URL")+"/store/events/stream", nil)
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PETSTORE_API_KEY"))
	request.Header.Set("Last-Event-ID", "1")
	connection := sse.NewConnection(request)
	connection.SubscribeToAll(func(event sse.Event) {
		fmt.Printf("%s %s\n", event.LastEventID, event.Type)
		if event.LastEventID == "4" {
			os.Exit(0)
		}
	})
	panic(connection.Connect())
}
