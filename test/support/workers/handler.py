"""A handler with the service's own worker library. Its jobs say what to do."""

import time

import runpod


def echo(job):
    data = job["input"]
    if "error" in data:
        raise ValueError(data["error"])
    if "progress" in data:
        runpod.serverless.progress_update(job, data["progress"])
        time.sleep(0.5)
    print("handled", data.get("echo"))
    return {"echo": data.get("echo"), **({"refresh_worker": True} if data.get("refresh") else {})}


async def generate(job):
    for number in range(job["input"]["items"]):
        yield {"number": number}


if __name__ == "__main__":
    import os

    if os.environ.get("HANDLER") == "generate":
        runpod.serverless.start({"handler": generate, "return_aggregate_stream": True})
    runpod.serverless.start({"handler": echo})
