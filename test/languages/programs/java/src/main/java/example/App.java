package example;

import com.pulumi.Pulumi;
import com.pulumi.core.Output;
import com.pulumi.resources.CustomResourceOptions;
import com.pulumi.serverlessgpu.Provider;
import com.pulumi.serverlessgpu.ProviderArgs;
import com.pulumi.serverlessgpu.ServerlessEndpoint;
import com.pulumi.serverlessgpu.ServerlessEndpointArgs;
import com.pulumi.serverlessgpu.ServerlessTemplate;
import com.pulumi.serverlessgpu.ServerlessTemplateArgs;
import com.pulumi.serverlessgpu.ServerlessgpuFunctions;
import com.pulumi.serverlessgpu.inputs.GetEndpointArgs;
import java.util.Map;

public class App {
    public static void main(String[] args) {
        Pulumi.run(ctx -> {
            var config = ctx.config();
            var url = config.require("otherUrl");

            var env = Output.tuple(config.requireSecret("token"), Output.of("llama-3"))
                .applyValue(both -> Map.of("TOKEN", both.t1, "MODEL", both.t2));
            var template = new ServerlessTemplate("template", ServerlessTemplateArgs.builder()
                .imageName("ghcr.io/me/llama:1.4.0")
                .env(env)
                .build());
            var endpoint = new ServerlessEndpoint("endpoint", ServerlessEndpointArgs.builder()
                .templateId(template.id())
                .gpuIds("ADA_24", "AMPERE_24", "-NVIDIA L4")
                .locations("RO", "CZ")
                .workersMax(config.requireInteger("workersMax"))
                .build());
            var account = new Provider("other-account", ProviderArgs.builder()
                .apiKey(config.requireSecret("otherKey"))
                .graphqlUrl(url)
                .restUrl(url)
                .queueUrl(url)
                .build());
            new ServerlessEndpoint("other", ServerlessEndpointArgs.builder()
                .name("other")
                .templateId("template-2")
                .gpuIds("AMPERE_16")
                .build(), CustomResourceOptions.builder().provider(account).build());

            var found = ServerlessgpuFunctions.getEndpoint(GetEndpointArgs.builder().id(endpoint.id()).build());
            ctx.export("name", endpoint.name());
            ctx.export("queueUrl", endpoint.queueUrl());
            ctx.export("found", found.applyValue(each -> each.gpuIds()));
            ctx.export("token", template.env().applyValue(variables -> variables.get("TOKEN")));
        });
    }
}
