import { Data, Effect, Option, Redacted } from "effect"
import { hkdfSync, randomBytes, randomUUID } from "node:crypto"
import { link, mkdir, readFile, unlink, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { DownloadKeys } from "../domain/fulfillment/Downloads.ts"
import { readKeyring, type SecretsKey } from "../domain/webhooks/SecretEncryption.ts"
import type { AppSettings } from "./config/AppConfig.ts"

/**
 * Keys of download links, derived from the secrets key: a leaked one decrypts nothing. None in production without
 * `STOA_SECRETS_KEY`; the start warns.
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

export class SecretUnkept extends Data.TaggedError("SecretUnkept")<{ readonly message: string }> {}

const isMissing = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === "ENOENT"

const isThere = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === "EEXIST"

const shortest = 43

const readOrMake = async (dataDir: string, name: string, encoding: "base64" | "base64url"): Promise<string> => {
  const file = join(resolve(dataDir), name)
  // An empty file, left by a full disk, would be a public secret.
  const read = async () => {
    const text = (await readFile(file, "utf8")).trim()
    if (text.length < shortest) throw new Error(`${file} is damaged: remove it`)
    return text
  }
  try {
    return await read()
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  const draft = `${file}.${randomUUID()}`
  await mkdir(resolve(dataDir), { recursive: true })
  await writeFile(draft, `${randomBytes(32).toString(encoding)}\n`, { mode: 0o600, flush: true })
  try {
    await link(draft, file)
  } catch (error) {
    if (!isThere(error)) throw error
  } finally {
    await unlink(draft)
  }
  return await read()
}

/**
 * A random secret in the data directory, readable for its owner only, shared by restarts and processes beside.
 * `variable` sets it instead.
 */
export const keptSecret = (
  dataDir: string,
  name: string,
  variable: string,
  encoding: "base64" | "base64url" = "base64"
): Effect.Effect<string, SecretUnkept> =>
  Effect.tryPromise({
    try: () => readOrMake(dataDir, name, encoding),
    catch: (error) =>
      new SecretUnkept({ message: `${name} cannot be kept in ${dataDir} (${String(error)}): set ${variable}.` })
  })

export const developmentKeyFile = "dev-key"

/** Outside production, creates and keeps unset secrets: one in the sources would be public. */
export const withKeptSecrets = Effect.fnUntraced(function*(settings: AppSettings) {
  const { dataDir, environment } = settings
  if (environment === "production") return settings
  const key = Option.isSome(settings.developmentKey)
    ? settings.developmentKey
    : Option.some(
      Redacted.make(yield* keptSecret(dataDir, developmentKeyFile, "STOA_DEV_API_KEY", "base64url"))
    )
  const withKey: AppSettings = { ...settings, developmentKey: key }
  if (settings.webhooks.keyring !== undefined) return withKey
  const keyring = readKeyring(yield* keptSecret(dataDir, "secrets-key", "STOA_SECRETS_KEY"))
  if (keyring === undefined) {
    return yield* new SecretUnkept({
      message: `secrets-key in ${dataDir} is no key: remove it, or set STOA_SECRETS_KEY.`
    })
  }
  return { ...withKey, webhooks: { ...settings.webhooks, keyring }, mail: { ...settings.mail, keyring } }
})
