import { Context, Layer, Redacted } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"

/** A key that signs addresses of media. */
export type MediaKey = Redacted.Redacted<Uint8Array>

/**
 * Keys of signed addresses: the first signs, all are accepted. Without keys the service signs nothing, because
 * addresses signed with a well-known key could be forged.
 */
export class MediaKeys extends Context.Service<MediaKeys, ReadonlyArray<MediaKey>>()("stoa/domain/media/MediaKeys") {
  static readonly layerOf = (keys: ReadonlyArray<MediaKey>): Layer.Layer<MediaKeys> => Layer.succeed(MediaKeys, keys)
}

/** The signed content of an address. */
export interface MediaLink {
  readonly storageKey: string
  /** Expiry in seconds since 1970. */
  readonly expires: number
}

const signatureOf = ({ expires, storageKey }: MediaLink, key: MediaKey): Uint8Array =>
  createHmac("sha256", Redacted.value(key)).update(`${storageKey}\n${expires}`).digest()

/** The query that signs an address; undefined without a key. */
export const signedQuery = (link: MediaLink, [key]: ReadonlyArray<MediaKey>): string | undefined =>
  key === undefined
    ? undefined
    : `expires=${link.expires}&signature=${Buffer.from(signatureOf(link, key)).toString("base64url")}`

/** Whether one of the keys signed this; compared in constant time. */
export const isSigned = (link: MediaLink, signature: string, keys: ReadonlyArray<MediaKey>): boolean => {
  const shown = Buffer.from(signature, "base64url")
  return keys.some((key) => {
    const expected = signatureOf(link, key)
    return shown.length === expected.length && timingSafeEqual(shown, expected)
  })
}
