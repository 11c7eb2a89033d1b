// Reads the stream of events by r3labs/sse, after the event with the id 1 until that with the id 4.
package main

import (
	"fmt"
	"os"

	"github.com/r3labs/sse/v2"
)

func main() {
	client := sse.NewClient(os.Getenv("PETSTORE_BASE_URL") + "/store/events/stream")
	client.Headers["Authorization"] = "Bearer " + os.Getenv("PETSTORE_API_KEY")
	client.LastEventID.Store([]byte("1"))
	err := client.SubscribeRaw(func(event *sse.Event) {
		fmt.Printf("%s %s\n", event.ID, event.Event)
		if string(event.ID) == "4" {
			os.Exit(0)
		}
	})
	if err != nil {
		panic(err)
	}
}
