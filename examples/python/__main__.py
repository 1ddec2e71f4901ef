import pulumi
import pulumi_serverless_gpu as gpu

config = pulumi.Config()

template = gpu.ServerlessTemplate(
    "llama",
    image_name="ghcr.io/me/llama:1.4.0",
    env={"HF_TOKEN": config.require_secret("hf"), "MODEL": "llama-3"},
)

FLEET = {
    "chat": {"gpu_ids": ["ADA_24", "AMPERE_24"], "workers_max": config.get_int("chatWorkers") or 3},
    "summaries": {"gpu_ids": ["AMPERE_48", "-NVIDIA A40"], "idle_timeout": 30},
}

endpoints = {
    name: gpu.ServerlessEndpoint(
        name, template_id=template.id, template_revision=template.revision, locations=["CZ", "RO"], **settings
    )
    for name, settings in FLEET.items()
}

pulumi.export("queue_urls", {name: endpoint.queue_url for name, endpoint in endpoints.items()})
pulumi.export("jobs_in_queue", gpu.get_endpoint_health_output(endpoint_id=endpoints["chat"].id).jobs.in_queue)
