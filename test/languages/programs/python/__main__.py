import pulumi
import pulumi_serverless_gpu as gpu

config = pulumi.Config()
url = config.require("otherUrl")

template = gpu.ServerlessTemplate(
    "template",
    image_name="ghcr.io/me/llama:1.4.0",
    env={"TOKEN": config.require_secret("token"), "MODEL": "llama-3"},
)
endpoint = gpu.ServerlessEndpoint(
    "endpoint",
    template_id=template.id,
    gpu_ids=["ADA_24", "AMPERE_24", "-NVIDIA L4"],
    locations=["RO", "CZ"],
    workers_max=config.require_int("workersMax"),
)
account = gpu.Provider(
    "other-account", api_key=config.require_secret("otherKey"), graphql_url=url, rest_url=url, queue_url=url
)
gpu.ServerlessEndpoint(
    "other",
    name="other",
    template_id="template-2",
    gpu_ids=["AMPERE_16"],
    opts=pulumi.ResourceOptions(provider=account),
)

pulumi.export("name", endpoint.name)
pulumi.export("queueUrl", endpoint.queue_url)
pulumi.export("found", gpu.get_endpoint_output(id=endpoint.id).gpu_ids)
pulumi.export("token", template.env["TOKEN"])
