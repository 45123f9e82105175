import type { MediaAttachment } from "./MediaAsset.ts"

/** An asset where it is attached. */
export interface AttachedMedium extends MediaAttachment {
  readonly mediaAssetId: string
}

/** The same with what names the variant in files. */
export interface ShownMedium extends AttachedMedium {
  readonly sku: string | null
  readonly options: Readonly<Record<string, string>>
}
