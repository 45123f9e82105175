import { Context, Data, Effect, Layer, Option, Redacted } from "effect"
import { randomBytes, randomUUID } from "node:crypto"
import { link, mkdir, readFile, unlink, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { AppConfig } from "../config/AppConfig.ts"

/** The data directory cannot keep the secret of a development deployment. */
export class AuthSecretUnkept extends Data.TaggedError("AuthSecretUnkept")<{ readonly message: string }> {}

const isMissing = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === "ENOENT"

const isThere = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === "EEXIST"

/**
 * The secret in the data directory, made by whichever process comes first, so that a restart signs nobody out. It gets
 * its name when it is whole: nobody reads half of it.
 */
const keptSecret = async (dataDir: string): Promise<string> => {
  const file = join(resolve(dataDir), "auth-secret")
  const read = () => readFile(file, "utf8").then((text) => text.trim())
  try {
    return await read()
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  const draft = `${file}.${randomUUID()}`
  await mkdir(resolve(dataDir), { recursive: true })
  await writeFile(draft, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600 })
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
 * What signs session cookies and links and encrypts second factors: `auth.secret` (`STOA_AUTH_SECRET`), which production
 * requires, else the one of the data directory.
 */
export class AuthSecret
  extends Context.Service<AuthSecret, Redacted.Redacted<string>>()("stoa/layers/auth/AuthSecret")
{
  static readonly layer = Layer.effect(
    AuthSecret,
    Effect.flatMap(AppConfig, ({ auth, dataDir }) =>
      Option.match(auth.secret, {
        onSome: Effect.succeed,
        onNone: () =>
          Effect.tryPromise({
            try: () => keptSecret(dataDir),
            catch: (error) =>
              new AuthSecretUnkept({
                message: `The secret of sessions cannot be kept in ${dataDir} (${String(error)}): set STOA_AUTH_SECRET.`
              })
          }).pipe(Effect.map((text) => Redacted.make(text)))
      }))
  )
}
