import { Schema, Struct } from "effect"
import { EntityId, MediaAssetId, Uuid } from "../platform/ids/Id.ts"
import { Table } from "../platform/records/Table.ts"
import { Time } from "../platform/text/Time.ts"
import { AttachedMedium, MediaAsset } from "./MediaAsset.ts"

const StoredAsset = Schema.Struct({
  ...Struct.omit(MediaAsset.fields, ["url"]),
  digest: Schema.String,
  uploadedBy: Schema.NullOr(Schema.String),
  expiresAt: Schema.NullOr(Time)
})

export const mediaAssets = new Table("media_assets", StoredAsset, {
  casts: { size: "float8" },
  unset: ["metadata", "confidence", "derivedFromAssetId", "uploadedAt"]
})

const Attachment = Schema.Struct({ ...AttachedMedium.fields, organizationId: Schema.String, attachedAt: Time })

export const entityMedia = new Table("entity_media", Attachment, { unset: ["attachedAt"] })

export const StoredFile = Schema.Struct({
  storageKey: Schema.String,
  contentType: Schema.String,
  size: Schema.Int,
  digest: Schema.String
})

const Rendition = Schema.Struct({
  ...StoredFile.fields,
  organizationId: Schema.String,
  assetId: MediaAssetId,
  width: Schema.Int,
  createdAt: Time
})

export const mediaRenditions = new Table("media_renditions", Rendition, {
  casts: { size: "float8" },
  unset: ["createdAt"]
})

const Removal = Schema.Struct({
  storageKey: Schema.String,
  organizationId: Schema.String,
  dueAt: Time,
  attempts: Schema.Int
})

export const mediaRemovals = new Table("media_removals", Removal, { unset: ["dueAt", "attempts"] })

export const NamedPicture = Schema.Struct({
  entityId: EntityId,
  url: Schema.String,
  position: Schema.Int,
  alt: Schema.NullOr(Schema.String)
})

const StoredPicture = Schema.Struct({
  ...NamedPicture.fields,
  id: Uuid,
  organizationId: Schema.String,
  state: Schema.Literals(["waiting", "attached", "refused"]),
  reason: Schema.NullOr(Schema.String),
  mediaAssetId: Schema.NullOr(MediaAssetId),
  updatedAt: Time
})

export const externalPictures = new Table("external_pictures", StoredPicture, {
  unset: ["state", "reason", "mediaAssetId", "updatedAt"]
})
