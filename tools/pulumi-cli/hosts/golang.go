package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	codegen "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/pcl"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

type golang struct{}

// command compiles the program, unless the runtime's option `binary` names an executable, as the official host reads it.
func (golang) command(run *pulumirpc.RunRequest, engine string, temp string) (*exec.Cmd, error) {
	binary := option(run, "binary")
	if binary == "" {
		binary = filepath.Join(temp, "program")
		build := exec.Command("go", "build", "-o", binary, run.Info.EntryPoint)
		build.Dir = run.Info.ProgramDirectory
		if output, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("the program does not compile: %w\n%s", err, output)
		}
	} else if !filepath.IsAbs(binary) {
		binary = filepath.Join(run.Info.RootDirectory, binary)
	}
	command := exec.Command(binary, run.Args...)
	command.Env = append(configEnvironment(run),
		pulumi.EnvOrganization+"="+run.Organization,
		pulumi.EnvProject+"="+run.Project,
		pulumi.EnvPulumiRootDirectory+"="+run.Info.RootDirectory,
		pulumi.EnvStack+"="+run.Stack,
		pulumi.EnvMonitor+"="+run.MonitorAddress,
		pulumi.EnvEngine+"="+engine,
		pulumi.EnvParallel+"="+strconv.Itoa(int(run.Parallel)),
		pulumi.EnvDryRun+"="+strconv.FormatBool(run.DryRun),
	)
	return command, nil
}

func (golang) sdk(
	tool string, pkg *schema.Package, request *pulumirpc.GeneratePackageRequest, _ schema.ReferenceLoader,
) (map[string][]byte, error) {
	return codegen.GeneratePackage(tool, pkg, request.LocalDependencies)
}

func (golang) program(program *pcl.Program) (map[string][]byte, hcl.Diagnostics, error) {
	return codegen.GenerateProgram(program)
}

// option returns a string from the runtime's options in Pulumi.yaml, or "".
func option(run *pulumirpc.RunRequest, name string) string {
	return run.Info.GetOptions().GetFields()[name].GetStringValue()
}

// configEnvironment returns the environment with the stack's config, which all languages read in the same way.
func configEnvironment(run *pulumirpc.RunRequest) []string {
	// Without config both are nil, which JSON would have as null.
	config, secretKeys := map[string]string{}, []string{}
	maps.Copy(config, run.Config)
	secretKeys = append(secretKeys, run.ConfigSecretKeys...)
	return append(os.Environ(), pulumi.EnvConfig+"="+asJSON(config), pulumi.EnvConfigSecretKeys+"="+asJSON(secretKeys))
}

func asJSON(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}
