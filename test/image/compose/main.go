// Loads a Compose file as Docker Compose does, with its schema and the variables of the environment, and prints what is meant.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	log.SetFlags(0)
	options, err := cli.NewProjectOptions(os.Args[1:], cli.WithOsEnv, cli.WithResolvedPaths(false))
	if err != nil {
		log.Fatal(err)
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	meant, err := project.MarshalJSON()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(meant))
}
