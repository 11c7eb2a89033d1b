// Reads the stream of events by eventsource of LaunchDarkly, after the event with the id 1 until that with the id 4.
package main

import (
	"fmt"
	"net/http"
	"os"

	"github.com/launchdarkly/eventsource"
)

func main() {
	request, err := http.NewRequest(http.MethodGet, os.Getenv("PETSTORE_BASE_URL")+"/store/events/stream", nil)
	check(err)
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PETSTORE_API_KEY"))
	stream, err := eventsource.SubscribeWithRequestAndOptions(request, eventsource.StreamOptionLastEventID("1"))
	check(err)
	for event := range stream.Events {
		fmt.Println(event.Id(), event.Event())
		if event.Id() == "4" {
			break
		}
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
