package main

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
	"pulumi-serverless-gpu/sdk/go/serverlessgpu"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		settings := config.New(ctx, "")
		url := pulumi.String(settings.Require("otherUrl"))

		template, err := serverlessgpu.NewServerlessTemplate(ctx, "template", &serverlessgpu.ServerlessTemplateArgs{
			ImageName: pulumi.String("ghcr.io/me/llama:1.4.0"),
			Env: pulumi.StringMap{
				"TOKEN": settings.RequireSecret("token"),
				"MODEL": pulumi.String("llama-3"),
			},
		})
		if err != nil {
			return err
		}
		endpoint, err := serverlessgpu.NewServerlessEndpoint(ctx, "endpoint", &serverlessgpu.ServerlessEndpointArgs{
			TemplateId: template.ID(),
			GpuIds:     pulumi.ToStringArray([]string{"ADA_24", "AMPERE_24", "-NVIDIA L4"}),
			Locations:  pulumi.ToStringArray([]string{"RO", "CZ"}),
			WorkersMax: pulumi.Int(settings.RequireInt("workersMax")),
		})
		if err != nil {
			return err
		}
		account, err := serverlessgpu.NewProvider(ctx, "other-account", &serverlessgpu.ProviderArgs{
			ApiKey:     settings.RequireSecret("otherKey"),
			GraphqlUrl: url,
			RestUrl:    url,
			QueueUrl:   url,
		})
		if err != nil {
			return err
		}
		if _, err := serverlessgpu.NewServerlessEndpoint(ctx, "other", &serverlessgpu.ServerlessEndpointArgs{
			Name:       pulumi.String("other"),
			TemplateId: pulumi.String("template-2"),
			GpuIds:     pulumi.ToStringArray([]string{"AMPERE_16"}),
		}, pulumi.Provider(account)); err != nil {
			return err
		}

		found := serverlessgpu.GetEndpointOutput(ctx, serverlessgpu.GetEndpointOutputArgs{Id: endpoint.ID()})
		ctx.Export("name", endpoint.Name)
		ctx.Export("queueUrl", endpoint.QueueUrl)
		ctx.Export("found", found.GpuIds())
		ctx.Export("token", template.Env.MapIndex(pulumi.String("TOKEN")))
		return nil
	})
}
