// Language hosts for Go and Python: gRPC servers through which the engine runs programs, generates SDKs from schemas, and
// writes programs for imported resources. The official hosts are not part of Pulumi's Go modules; the code generators are.
// The name of the executable, such as pulumi-language-go, selects the language. The engine passes its own address as the
// last argument, and reads the port from the first line of the output.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
)

var languages = map[string]language{"go": golang{}, "python": python{}}

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve() error {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	language, known := languages[strings.TrimPrefix(name, "pulumi-language-")]
	if !known {
		return fmt.Errorf("%s is the name of no language host", name)
	}
	host := &host{name: name, language: language, engine: os.Args[len(os.Args)-1]}
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Init: func(server *grpc.Server) error {
			pulumirpc.RegisterLanguageRuntimeServer(server, host)
			return nil
		},
	})
	if err != nil {
		return err
	}
	fmt.Println(handle.Port)

	// The engine holds the other end, which closes when the engine ends, even if it is killed.
	_, _ = io.Copy(io.Discard, os.Stdin)
	host.stopPrograms()
	return nil
}
