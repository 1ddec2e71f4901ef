package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/pulumi/pulumi/pkg/v3/codegen/pcl"
	codegen "github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// executor is Pulumi's own script that runs a program. It is part of the Go modules, and the build puts it beside the host.
const executor = "pulumi-language-python-exec"

type python struct{}

func (python) command(run *pulumirpc.RunRequest, engine string, _ string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{
		"-u", filepath.Join(filepath.Dir(self), executor),
		"--monitor", run.MonitorAddress,
		"--engine", engine,
		"--organization", run.Organization,
		"--project", run.Project,
		"--root_directory", run.Info.RootDirectory,
		"--stack", run.Stack,
		"--pwd", run.Pwd,
		"--dry_run", strconv.FormatBool(run.DryRun),
		"--parallel", strconv.Itoa(int(run.Parallel)),
		filepath.Join(run.Info.ProgramDirectory, run.Info.EntryPoint),
	}
	command := exec.Command(interpreter(run), append(args, run.Args...)...)
	command.Env = configEnvironment(run)
	return command, nil
}

// interpreter returns the Python of the virtual environment that the runtime's option `virtualenv` names, or that on PATH.
func interpreter(run *pulumirpc.RunRequest) string {
	environment := option(run, "virtualenv")
	if environment == "" {
		return "python3"
	}
	if !filepath.IsAbs(environment) {
		environment = filepath.Join(run.Info.RootDirectory, environment)
	}
	if runtime.GOOS == "windows" {
		return filepath.Join(environment, "Scripts", "python.exe")
	}
	return filepath.Join(environment, "bin", "python")
}

func (python) sdk(
	tool string, pkg *schema.Package, request *pulumirpc.GeneratePackageRequest, loader schema.ReferenceLoader,
) (map[string][]byte, error) {
	return codegen.GeneratePackage(tool, pkg, request.ExtraFiles, loader)
}

func (python) program(program *pcl.Program) (map[string][]byte, hcl.Diagnostics, error) {
	return codegen.GenerateProgram(program)
}
