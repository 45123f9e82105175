import type { MediaAsset } from "./MediaAsset.ts"

/** A row of `media_assets` from the driver. */
export interface MediaRow {
  readonly id: string
  readonly organization_id: string
  readonly storage_key: string
  readonly filename: string
  readonly content_type: string
  readonly size: bigint
  readonly digest: string
  readonly width: number | null
  readonly height: number | null
  readonly alt: string | null
  readonly metadata: Readonly<Record<string, unknown>>
  readonly origin: MediaAsset["origin"]
  readonly confidence: number | null
  readonly derived_from_asset_id: string | null
  readonly is_public: boolean
  readonly uploaded_at: Date
}

/** The asset of a row, with its file under `address`. */
export const toAsset = (row: MediaRow, address: string): MediaAsset => ({
  id: row.id,
  organizationId: row.organization_id,
  storageKey: row.storage_key,
  filename: row.filename,
  contentType: row.content_type,
  size: Number(row.size),
  width: row.width,
  height: row.height,
  alt: row.alt,
  metadata: row.metadata,
  origin: row.origin,
  confidence: row.confidence,
  derivedFromAssetId: row.derived_from_asset_id,
  isPublic: row.is_public,
  uploadedAt: row.uploaded_at,
  url: `${address}${row.storage_key}`
})

/** An asset as recorded in the change log: an SQL text over a row of `media_assets`. */
export const assetJson = (row: string): string =>
  `jsonb_build_object('id', ${row}.id, 'organizationId', ${row}.organization_id, 'storageKey', ${row}.storage_key,
    'filename', ${row}.filename, 'contentType', ${row}.content_type, 'size', ${row}.size, 'width', ${row}.width,
    'height', ${row}.height, 'alt', ${row}.alt, 'metadata', ${row}.metadata, 'origin', ${row}.origin,
    'isPublic', ${row}.is_public)`

/** SQL for whether the asset in the row `row` is public: its owner marked it so, or something published shows it. */
export const isPublicAsset = (row: string): string =>
  `(${row}.is_public or exists (select 1 from entity_media pl join catalog_entities pe on pe.id = pl.entity_id
      and pe.organization_id = pl.organization_id
    where pl.media_asset_id = ${row}.id and pl.organization_id = ${row}.organization_id
      and pe.status = 'active' and pe.is_visible))`
