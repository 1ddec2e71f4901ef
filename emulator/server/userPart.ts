import { GPU_TIERS } from "../../sdk/contract/limits";
import { EMULATED_USER_ID } from "../endpoints/endpointGraphql";
import type { GraphqlPart } from "../graphql/part";
import type { Profile } from "../model/fidelity";

interface GpuType {
  readonly id: string;
  readonly memoryInGb: number;
}

/** One GPU for each tier of the contract (assumed). Their prices are not known. */
const GPU_TYPES: readonly GpuType[] = GPU_TIERS.map((tier) => ({ id: tier, memoryInGb: Number(/\d+/.exec(tier)) }));

/**
 * Creates the part of the GraphQL interface that the service's clients query in addition to
 * endpoints: the user and the GPU types. The contract does not include it.
 */
export function userPart(profile: Profile): GraphqlPart {
  if (profile === "contract") return { schema: "" };
  return {
    schema: `
      extend type Account { id: String email: String pubKey: String }
      extend type Query { gpuTypes(input: GpuTypeFilter): [GpuType] }
      input GpuTypeFilter { id: String }
      input GpuLowestPriceInput { gpuCount: Int }
      type LowestPrice { minimumBidPrice: Float uninterruptablePrice: Float }
      type GpuType {
        id: String displayName: String memoryInGb: Int maxGpuCount: Int manufacturer: String cudaCores: Int
        secureCloud: Boolean communityCloud: Boolean securePrice: Float communityPrice: Float oneMonthPrice: Float
        threeMonthPrice: Float oneWeekPrice: Float communitySpotPrice: Float secureSpotPrice: Float
        lowestPrice(input: GpuLowestPriceInput): LowestPrice
      }
    `,
    operations: {
      gpuTypes: ({ input }: { input?: { id?: string | null } | null }) =>
        GPU_TYPES.filter(({ id }) => input?.id == null || id === input.id).map(shownGpu),
    },
    myself: { id: () => EMULATED_USER_ID, email: () => null, pubKey: () => null },
  };
}

function shownGpu({ id, memoryInGb }: GpuType) {
  const lowestPrice = { minimumBidPrice: null, uninterruptablePrice: null };
  return { id, displayName: id, memoryInGb, maxGpuCount: 8, manufacturer: "Nvidia", secureCloud: true, lowestPrice };
}
