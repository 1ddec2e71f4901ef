package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/pulumi/pulumi/pkg/v3/codegen/hcl2/syntax"
	"github.com/pulumi/pulumi/pkg/v3/codegen/pcl"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/emptypb"
)

// exitErrorAlreadyShown is the exit code of a program that has already reported its errors.
const exitErrorAlreadyShown = 32

// A language is what differs between the hosts.
type language interface {
	// command returns the command that runs a program, with its environment. If it needs a folder, that is temporary.
	command(run *pulumirpc.RunRequest, engine string, temp string) (*exec.Cmd, error)
	// sdk returns the files of an SDK for a package.
	sdk(tool string, pkg *schema.Package, request *pulumirpc.GeneratePackageRequest, loader schema.ReferenceLoader) (map[string][]byte, error)
	// program returns the files of a program.
	program(program *pcl.Program) (map[string][]byte, hcl.Diagnostics, error)
}

// A host serves one language. Methods that it does not have respond with "unimplemented", which the engine treats as
// "nothing to do".
type host struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	name     string
	language language
	engine   string
	running  sync.Map
}

func (h *host) Run(_ context.Context, request *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	temp, err := os.MkdirTemp("", h.name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	command, err := h.language.command(request, h.engine, temp)
	if err != nil {
		return &pulumirpc.RunResponse{Error: err.Error()}, nil
	}
	command.Dir = request.Pwd
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	if err := command.Start(); err != nil {
		return nil, err
	}
	h.running.Store(command.Process, nil)
	defer h.running.Delete(command.Process)
	if err := command.Wait(); err != nil {
		if command.ProcessState.ExitCode() == exitErrorAlreadyShown {
			return &pulumirpc.RunResponse{Bail: true}, nil
		}
		return &pulumirpc.RunResponse{Error: fmt.Sprintf("the program failed: %v", err)}, nil
	}
	return &pulumirpc.RunResponse{}, nil
}

func (h *host) stopPrograms() {
	h.running.Range(func(process, _ any) bool {
		_ = process.(*os.Process).Kill()
		return true
	})
}

func (h *host) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	h.stopPrograms()
	return &emptypb.Empty{}, nil
}

// GetRequiredPackages names no package: the engine asks for each when the program uses it.
func (h *host) GetRequiredPackages(
	context.Context, *pulumirpc.GetRequiredPackagesRequest,
) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

func (h *host) GetProgramDependencies(
	context.Context, *pulumirpc.GetProgramDependenciesRequest,
) (*pulumirpc.GetProgramDependenciesResponse, error) {
	return &pulumirpc.GetProgramDependenciesResponse{}, nil
}

func (h *host) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{}, nil
}

func (h *host) GeneratePackage(
	_ context.Context, request *pulumirpc.GeneratePackageRequest,
) (*pulumirpc.GeneratePackageResponse, error) {
	loader, err := schema.NewLoaderClient(request.LoaderTarget)
	if err != nil {
		return nil, err
	}
	var spec schema.PackageSpec
	if err := json.Unmarshal([]byte(request.Schema), &spec); err != nil {
		return nil, err
	}
	pkg, problems, err := schema.BindSpec(spec, loader, schema.ValidationOptions{})
	response := &pulumirpc.GeneratePackageResponse{Diagnostics: plugin.HclDiagnosticsToRPCDiagnostics(problems)}
	if err != nil || problems.HasErrors() {
		return response, err
	}
	files, err := h.language.sdk(h.name, pkg, request, loader)
	if err != nil {
		return nil, err
	}
	return response, writeFiles(request.Directory, files)
}

func writeFiles(folder string, files map[string][]byte) error {
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (h *host) GenerateProgram(
	_ context.Context, request *pulumirpc.GenerateProgramRequest,
) (*pulumirpc.GenerateProgramResponse, error) {
	loader, err := schema.NewLoaderClient(request.LoaderTarget)
	if err != nil {
		return nil, err
	}
	parser := syntax.NewParser()
	for name, source := range request.Source {
		if err := parser.ParseFile(strings.NewReader(source), name); err != nil {
			return nil, err
		}
	}
	options := []pcl.BindOption{pcl.Loader(loader)}
	if !request.Strict {
		options = append(options, pcl.NonStrictBindOptions()...)
	}
	program, problems, err := pcl.BindProgram(parser.Files, options...)
	problems = append(parser.Diagnostics, problems...)
	if err != nil || problems.HasErrors() {
		return &pulumirpc.GenerateProgramResponse{Diagnostics: plugin.HclDiagnosticsToRPCDiagnostics(problems)}, err
	}
	files, more, err := h.language.program(program)
	return &pulumirpc.GenerateProgramResponse{
		Source:      files,
		Diagnostics: plugin.HclDiagnosticsToRPCDiagnostics(append(problems, more...)),
	}, err
}
