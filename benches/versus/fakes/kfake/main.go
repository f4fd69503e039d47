// franz-go's fake cluster as a process of its own: kfake BROKERS TOPIC:PARTITIONS... Prints bootstrap=..., ends when standard input does.
package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	brokers, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	options := []kfake.Opt{kfake.NumBrokers(brokers)}
	for _, topic := range os.Args[2:] {
		name, count, _ := strings.Cut(topic, ":")
		partitions, err := strconv.Atoi(count)
		if err != nil {
			panic(err)
		}
		options = append(options, kfake.SeedTopics(int32(partitions), name))
	}
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		panic(err)
	}
	fmt.Println("bootstrap=" + strings.Join(cluster.ListenAddrs(), ","))
	_, _ = io.Copy(io.Discard, os.Stdin)
	cluster.Close()
}
