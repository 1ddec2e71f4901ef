// The examples in the schema: one program for each resource and function, from which the program in
// every language is made. A text `$name` or `$name.output` is a reference.

/**
 * @typedef {object} Declared a resource, or the call of a function
 * @property {string} resource
 * @property {Readonly<Record<string, unknown>>} properties
 *
 * @typedef {object} Called
 * @property {string} function
 * @property {Readonly<Record<string, unknown>>} [arguments] none where the function has none
 *
 * @typedef {object} Example
 * @property {string} title
 * @property {readonly string[]} [secrets] names of secret settings
 * @property {Readonly<Record<string, Declared | Called>>} program resources and calls by their
 * names, in the order of the program
 * @property {Readonly<Record<string, string>>} outputs
 * @property {string} [imported] the id in the example of `pulumi import`
 */

const IMAGE = "ghcr.io/me/llama:1.4.0";

/** @type {Readonly<Record<string, Example>>} */
const EXAMPLES = {
  ServerlessEndpoint: {
    title: "An endpoint and its template",
    program: {
      template: { resource: "ServerlessTemplate", properties: { imageName: IMAGE, containerDiskInGb: 20 } },
      llama: {
        resource: "ServerlessEndpoint",
        properties: {
          templateId: "$template.id",
          templateRevision: "$template.revision",
          gpuIds: ["ADA_24", "AMPERE_24"],
          locations: ["EU-RO-1", "EU-CZ-1"],
          workersMax: 3,
          idleTimeout: 10,
        },
      },
    },
    outputs: { queueUrl: "$llama.queueUrl" },
    imported: "abc123def456gh",
  },
  ServerlessTemplate: {
    title: "A template with a secret variable",
    secrets: ["token"],
    program: {
      template: {
        resource: "ServerlessTemplate",
        properties: {
          imageName: IMAGE,
          env: { HF_TOKEN: "$token", MODEL: "llama-3" },
          command: { cmd: ["python", "-u", "handler.py"] },
        },
      },
    },
    outputs: { revision: "$template.revision" },
    imported: "abc123def4",
  },
  NetworkVolume: {
    title: "A volume that workers mount",
    program: {
      models: { resource: "NetworkVolume", properties: { size: 50, dataCenterId: "EU-RO-1" } },
      llama: {
        resource: "ServerlessEndpoint",
        properties: {
          imageName: IMAGE,
          gpuIds: ["ADA_24"],
          locations: ["EU-RO-1"],
          networkVolumeId: "$models.id",
        },
      },
    },
    outputs: { storageType: "$models.storageType" },
    imported: "abc123def4",
  },
  ContainerRegistryAuth: {
    title: "A private image",
    secrets: ["password"],
    program: {
      registry: { resource: "ContainerRegistryAuth", properties: { username: "me", password: "$password" } },
      template: {
        resource: "ServerlessTemplate",
        properties: { imageName: IMAGE, containerRegistryAuthId: "$registry.id" },
      },
    },
    outputs: { templateId: "$template.id" },
  },
  Secret: {
    title: "A key that no template holds",
    secrets: ["token"],
    program: {
      hf: { resource: "Secret", properties: { value: "$token", description: "For downloads" } },
      template: {
        resource: "ServerlessTemplate",
        properties: { imageName: IMAGE, env: { HF_TOKEN: "$hf.reference" } },
      },
      llama: {
        resource: "ServerlessEndpoint",
        properties: {
          templateId: "$template.id",
          templateRevision: "$hf.version",
          recycleWorkers: true,
          gpuIds: ["ADA_24"],
        },
      },
    },
    outputs: { version: "$hf.version" },
  },
  SmokeTest: {
    title: "A job whose output is checked",
    program: {
      llama: {
        resource: "ServerlessEndpoint",
        properties: { name: "llama-3", imageName: IMAGE, gpuIds: ["ADA_24"] },
      },
      responds: {
        resource: "SmokeTest",
        properties: {
          endpointId: "$llama.id",
          input: { prompt: "2 + 2 =" },
          expectedOutput: { text: "4" },
          policy: { executionTimeout: 60_000, lowPriority: false },
          timeout: 600,
        },
      },
    },
    outputs: { delayTime: "$responds.delayTime" },
  },
  getEndpoint: {
    title: "An endpoint by its name",
    program: { found: { function: "getEndpoint", arguments: { name: "llama" } } },
    outputs: { id: "$found.id", queueUrl: "$found.queueUrl" },
  },
  getEndpoints: {
    title: "All endpoints",
    program: { account: { function: "getEndpoints" } },
    outputs: { endpoints: "$account.endpoints" },
  },
  getEndpointHealth: {
    title: "The jobs and workers of an endpoint",
    program: {
      found: { function: "getEndpoint", arguments: { name: "llama" } },
      health: { function: "getEndpointHealth", arguments: { endpointId: "$found.id" } },
    },
    outputs: { jobs: "$health.jobs", workers: "$health.workers" },
  },
  getServerlessTemplate: {
    title: "An endpoint with a template of someone else",
    program: {
      found: { function: "getServerlessTemplate", arguments: { name: "llama-template" } },
      llama: {
        resource: "ServerlessEndpoint",
        properties: { templateId: "$found.id", gpuIds: ["ADA_24"] },
      },
    },
    outputs: { imageName: "$found.imageName", queueUrl: "$llama.queueUrl" },
  },
  getServerlessTemplateEnv: {
    title: "The variables of a template",
    program: { found: { function: "getServerlessTemplateEnv", arguments: { name: "llama-template" } } },
    outputs: { env: "$found.env" },
  },
  getNetworkVolume: {
    title: "An endpoint that mounts an existing volume",
    program: {
      models: { function: "getNetworkVolume", arguments: { name: "models", dataCenterId: "EU-RO-1" } },
      llama: {
        resource: "ServerlessEndpoint",
        properties: {
          imageName: IMAGE,
          gpuIds: ["ADA_24"],
          locations: ["EU-RO-1"],
          networkVolumeId: "$models.id",
        },
      },
    },
    outputs: { size: "$models.size", queueUrl: "$llama.queueUrl" },
  },
  getContainerRegistryAuth: {
    title: "A template that uses an existing credential",
    program: {
      registry: { function: "getContainerRegistryAuth", arguments: { name: "ghcr" } },
      template: {
        resource: "ServerlessTemplate",
        properties: { imageName: IMAGE, containerRegistryAuthId: "$registry.id" },
      },
    },
    outputs: { templateId: "$template.id" },
  },
  getPod: {
    title: "A pod with its machine",
    program: { pod: { function: "getPod", arguments: { podId: "abc123def456gh", includeMachine: true } } },
    outputs: { desiredStatus: "$pod.desiredStatus", machine: "$pod.machine" },
  },
  getServerlessDiscount: {
    title: "The discount of the account",
    program: { discount: { function: "getServerlessDiscount" } },
    outputs: { discountFactor: "$discount.discountFactor" },
  },
  getGpuTypes: {
    title: "The GPU types of a region that are in stock",
    program: {
      available: {
        function: "getGpuTypes",
        arguments: { minMemoryInGb: 24, region: "EU", minStock: "Low" },
      },
    },
    outputs: { gpuTypes: "$available.gpuTypes" },
  },
  getDataCenters: {
    title: "The data centers of a region that have network volumes",
    program: { available: { function: "getDataCenters", arguments: { region: "EU", hasVolumes: true } } },
    outputs: { dataCenters: "$available.dataCenters" },
  },
  getSpend: {
    title: "What the endpoints have cost this month",
    program: { spent: { function: "getSpend", arguments: { groupBy: "endpoint" } } },
    outputs: { amount: "$spent.amount", newestBucket: "$spent.newestBucket" },
  },
  getAccountLimits: {
    title: "The quota and the balance of the account",
    program: { limits: { function: "getAccountLimits" } },
    outputs: { workerQuota: "$limits.workerQuota", balance: "$limits.balance" },
  },
};

module.exports = { EXAMPLES };
