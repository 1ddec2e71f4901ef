import type { Profile } from "../model/fidelity";
import { graphqlFields } from "../model/fieldTable";
import type { VolumeInput } from "../volumes/volumeFields";
import { CHANGEABLE_VOLUME_FIELDS, VOLUME_FIELDS, type VolumeChange } from "../volumes/volumeFields";
import type { Volumes } from "../volumes/volumes";
import type { GraphqlPart } from "./part";

/** Creates the part of the GraphQL API for network volumes. */
export function volumePart(volumes: Volumes, profile: Profile): GraphqlPart {
  const input = (table: typeof VOLUME_FIELDS | typeof CHANGEABLE_VOLUME_FIELDS) =>
    graphqlFields(table, "input", profile);
  return {
    schema: `
      extend type Mutation {
        createNetworkVolume(input: CreateNetworkVolumeInput!): NetworkVolume
        updateNetworkVolume(input: UpdateNetworkVolumeInput!): NetworkVolume
        deleteNetworkVolume(input: DeleteNetworkVolumeInput!): Void
      }
      extend type Account { networkVolumes: [NetworkVolume] }
      enum StorageType { CEPH_FS DDN MOOSE_FS ONE_FS PURE VAST }
      type NetworkVolume {
        id: String ${graphqlFields(VOLUME_FIELDS, "output", profile)} storageClusterId: String storageType: StorageType
      }
      input CreateNetworkVolumeInput { ${input(VOLUME_FIELDS)} userId: String isNextGenStorage: Boolean }
      input UpdateNetworkVolumeInput { id: String! ${input(CHANGEABLE_VOLUME_FIELDS)} }
      input DeleteNetworkVolumeInput { id: String! }
    `,
    operations: {
      createNetworkVolume: ({ input }: { input: VolumeInput }) => ({ ...volumes.create({ ...input, id: null }) }),
      updateNetworkVolume: ({ input }: { input: VolumeChange }) => ({ ...volumes.update(input) }),
      deleteNetworkVolume({ input }: { input: { id: string } }) {
        volumes.delete(input.id);
        return null;
      },
    },
    myself: { networkVolumes: ({ listLagMs }) => volumes.list(listLagMs) },
  };
}
