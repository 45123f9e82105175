import { Redacted } from "effect"
import { hkdfSync } from "node:crypto"
import { DownloadKeys } from "../domain/fulfillment/DownloadLink.ts"
import type { SecretsKey } from "../domain/webhooks/SecretEncryption.ts"
import type { AppSettings } from "./config/AppConfig.ts"

/**
 * The keys of download links, derived from the deployment's secrets key: one that leaks does not open what
 * is encrypted with the other. None in production without `STOA_SECRETS_KEY`, which the start warns of.
 */
export const downloadKeys = ({ webhooks: { keyring } }: AppSettings) => {
  const sealing: ReadonlyArray<SecretsKey> = keyring === undefined ? [] : keyring
  return DownloadKeys.layerOf(
    sealing.map(({ bytes }) =>
      Redacted.make(new Uint8Array(hkdfSync("sha256", Redacted.value(bytes), "", "stoa download links", 32)), {
        label: "download key"
      })
    )
  )
}
