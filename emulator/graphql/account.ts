import type { AccountUse, ServerlessDiscount } from "../catalog/accountLimits";
import type { Profile } from "../model/fidelity";
import type { Billing, BucketSize } from "../workers/billing";
import type { GraphqlPart } from "./part";

/** Creates the part of the GraphQL API for the discount. */
export function discountPart(serverlessDiscount: ServerlessDiscount | null): GraphqlPart {
  return {
    schema: `
      extend type Account { serverlessDiscount: ServerlessDiscount }
      type ServerlessDiscount { discountFactor: Float type: String expirationDate: String }
    `,
    myself: { serverlessDiscount: () => serverlessDiscount },
  };
}

/** Creates the part of the GraphQL API for the limits, which are not in the contract. */
export function limitsPart(use: () => AccountUse, profile: Profile): GraphqlPart {
  if (profile === "contract") return { schema: "" };
  return {
    schema: `
      extend type Account {
        maxServerlessConcurrency: Int machineQuota: Int spendLimit: Float currentSpendPerHr: Float clientBalance: Float
        minBalance: Float underBalance: Boolean spendDetails: SpendDetails
      }
      type SpendDetails { localStoragePerHour: Float networkStoragePerHour: Float gpuComputePerHour: Float }
    `,
    myself: {
      maxServerlessConcurrency: () => use().limits.workerQuota ?? null,
      machineQuota: () => null,
      spendLimit: () => use().limits.spendLimit ?? null,
      currentSpendPerHr: () => use().spend,
      clientBalance: () => 100,
      minBalance: () => 0,
      underBalance: () => false,
      spendDetails: () => ({ localStoragePerHour: 0, networkStoragePerHour: 0, gpuComputePerHour: use().spend }),
    },
  };
}

const GRANULARITIES = { HOURLY: "hour", DAILY: "day", WEEKLY: "week", MONTHLY: "month" } as const;

interface BillingInput {
  readonly input?: { readonly granularity?: keyof typeof GRANULARITIES | null } | null;
}

/** Creates the part of the GraphQL API for the bill, which is not in the contract. */
export function billingPart(billing: Billing, profile: Profile): GraphqlPart {
  if (profile === "contract") return { schema: "" };
  const serverless = (size: BucketSize) =>
    billing.charges(size, 0, Number.POSITIVE_INFINITY).map(({ time, amount, seconds, endpointId }) => ({
      time: new Date(time).toISOString(),
      amount,
      timeBilledSeconds: Math.round(seconds),
      endpointId,
    }));
  return {
    schema: `
      extend type Account { billing(input: UserBillingInput): UserBilling }
      enum BillingGranualarity { HOURLY DAILY WEEKLY MONTHLY }
      enum UserServerlessBillingGroupBy { ENDPOINT }
      input UserBillingInput { granularity: BillingGranualarity }
      input UserServerlessBillingInput { groupBy: UserServerlessBillingGroupBy }
      type UserBilling { serverless(input: UserServerlessBillingInput): [UserServerlessBilling] }
      type UserServerlessBilling { time: String amount: Float timeBilledSeconds: Int endpointId: String }
    `,
    single: {
      billing: ({ input }: BillingInput) => ({
        serverless: () => serverless(GRANULARITIES[input?.granularity ?? "DAILY"]),
      }),
    },
  };
}

/**
 * Creates the part of the GraphQL API for the user, which RunPod's clients query in addition to
 * endpoints and the catalog. It is not in the contract.
 */
export function userPart(accountId: string, profile: Profile): GraphqlPart {
  if (profile === "contract") return { schema: "" };
  return {
    schema: `extend type Account {
      id: String email: String pubKey: String
      notifyPodsStale: Boolean notifyPodsGeneral: Boolean notifyLowBalance: Boolean
    }`,
    myself: {
      id: () => accountId,
      email: () => null,
      pubKey: () => null,
      notifyPodsStale: () => false,
      notifyPodsGeneral: () => false,
      notifyLowBalance: () => false,
    },
  };
}
