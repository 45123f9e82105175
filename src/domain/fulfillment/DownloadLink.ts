import { Context, Layer, Redacted } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"

/** A key that signs links. */
export type DownloadKey = Redacted.Redacted<Uint8Array>

/**
 * Keys of download links: the first signs, all of them are accepted. Without a key no links are created, so that links
 * cannot be forged with a default key.
 */
export class DownloadKeys
  extends Context.Service<DownloadKeys, ReadonlyArray<DownloadKey>>()("stoa/domain/fulfillment/DownloadKeys")
{
  static readonly layerOf = (keys: ReadonlyArray<DownloadKey>): Layer.Layer<DownloadKeys> =>
    Layer.succeed(DownloadKeys, keys)
}

/** The signed content of a link. */
export interface DownloadLink {
  readonly fulfillmentId: string
  /** Expiry of the link in seconds since 1970. */
  readonly expires: number
}

const signatureOf = ({ expires, fulfillmentId }: DownloadLink, key: DownloadKey): Uint8Array =>
  createHmac("sha256", Redacted.value(key)).update(`${fulfillmentId}\n${expires}`).digest()

/** The address of a bought file, relative to the service; null without a key. */
export const signedLink = (link: DownloadLink, [key]: ReadonlyArray<DownloadKey>): string | null => {
  if (key === undefined) return null
  const signature = Buffer.from(signatureOf(link, key)).toString("base64url")
  return `/api/downloads/${link.fulfillmentId}?expires=${link.expires}&signature=${signature}`
}

/** Whether one of the keys signed this link; compared in constant time. */
export const isSigned = (link: DownloadLink, signature: string, keys: ReadonlyArray<DownloadKey>): boolean => {
  const shown = Buffer.from(signature, "base64url")
  return keys.some((key) => {
    const expected = signatureOf(link, key)
    return shown.length === expected.length && timingSafeEqual(shown, expected)
  })
}
