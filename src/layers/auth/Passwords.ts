import { APIError } from "better-auth/api"
import { hashPassword as scryptHash, verifyPassword as scryptVerify } from "better-auth/crypto"
import { Context, Effect, Layer, Metric, Schema, Semaphore } from "effect"
import * as crypto from "node:crypto"
import { availableParallelism } from "node:os"
import { AuthRepo } from "../../domain/auth/AuthRepo.ts"

export interface RefusedPassword {
  readonly code: string
  readonly message: string
}

let read: Promise<ReadonlySet<string>> | undefined

const commonPasswords = Effect.promise(() =>
  read ??= import("@zxcvbn-ts/language-common").then(({ dictionary }) =>
    new Set(dictionary["passwords-common"].filter(({ length }) => length >= 8))
  )
)

const tooCommon: RefusedPassword = {
  code: "PASSWORD_TOO_COMMON",
  message: "The password is too common. Choose another one."
}

/** Undefined for an accepted one: 8 to 128 characters, not common. */
export const refusedPassword = Effect.fnUntraced(function*(password: string) {
  const refused: RefusedPassword | undefined = password.length < 8
    ? { code: "PASSWORD_TOO_SHORT", message: "The password must have at least 8 characters." }
    : password.length > 128
    ? { code: "PASSWORD_TOO_LONG", message: "The password must have at most 128 characters." }
    : (yield* commonPasswords).has(password.toLowerCase())
    ? tooCommon
    : undefined
  return refused
})

const Chosen = Schema.fromJsonString(
  Schema.Struct({ password: Schema.optional(Schema.String), newPassword: Schema.optional(Schema.String) })
)
const decode = Schema.decodeEffect(Chosen)

const chooses = /^\/(sign-up\/email|change-password|reset-password)$/

export const refusedChoice = Effect.fnUntraced(function*(path: string, request: Request) {
  if (request.method !== "POST" || !chooses.test(path)) return undefined
  const text = yield* Effect.promise(() => request.clone().text())
  const { newPassword, password } = yield* Effect.orElseSucceed(decode(text), (): typeof Chosen.Type => ({}))
  const refused = yield* refusedPassword(newPassword ?? password ?? "")
  return refused?.code === tooCommon.code ? Response.json(refused, { status: 400 }) : undefined
})

/** KiB of memory, passes, lanes. */
interface Cost {
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
}

/** Hashes of another cost are renewed at their next use. */
export const PasswordCost = Context.Reference<Cost>("stoa/layers/auth/PasswordCost", {
  defaultValue: () => ({ memory: 19_456, passes: 2, parallelism: 1 })
})

const prefixOf = ({ memory, parallelism, passes }: Cost) => `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$`

// Not a named import: Node before 24.7 has no argon2 and could not load this file.
const { argon2, randomBytes, timingSafeEqual } = crypto

const hasArgon2 = typeof argon2 === "function"

const unpadded = (bytes: Buffer): string => bytes.toString("base64").replace(/=+$/, "")

const derive = (password: string, nonce: Buffer, length: number, { memory, parallelism, passes }: Cost) =>
  new Promise<Buffer>((resolve, reject) =>
    argon2(
      "argon2id",
      { message: password, nonce, tagLength: length, memory, passes, parallelism },
      (error, tag) => error === null ? resolve(tag) : reject(error)
    )
  )

const hashOf = async (password: string, cost: Cost): Promise<string> => {
  if (!hasArgon2) return scryptHash(password)
  const salt = randomBytes(16)
  return `${prefixOf(cost)}${unpadded(salt)}$${unpadded(await derive(password, salt, 32, cost))}`
}

const phc = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/

const matches = async (password: string, hash: string): Promise<boolean> => {
  const parts = phc.exec(hash)
  if (parts === null) return scryptVerify({ hash, password })
  const [, memory, passes, parallelism, salt = "", tag = ""] = parts
  const expected = Buffer.from(tag, "base64")
  const found = await derive(password, Buffer.from(salt, "base64"), expected.length, {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism)
  })
  return timingSafeEqual(found, expected)
}

const hashes = Metric.counter("stoa_password_hashes_total", {
  description: "Hashes of passwords computed, to store one or to compare with one",
  incremental: true
})

const maxQueueLength = 200

/**
 * Hashes with argon2id off the event loop. Leaves one core and one thread of Node's pool to other work: a rush of
 * sign-ins delays only sign-ins.
 */
export class Passwords extends Context.Service<Passwords>()("stoa/layers/auth/Passwords", {
  make: Effect.gen(function*() {
    const repo = yield* AuthRepo
    const cost = yield* PasswordCost

    const concurrency = Math.max(1, Math.min(3, availableParallelism() - 1))
    const turns = yield* Semaphore.make(concurrency)
    let waiting = 0

    const inTurn = <A>(work: () => Promise<A>) =>
      Effect.suspend(() => {
        if (waiting >= maxQueueLength) {
          return Effect.die(new APIError("SERVICE_UNAVAILABLE", { message: "Too many sign-ins. Try again shortly." }))
        }
        waiting++
        return Effect.andThen(Metric.update(hashes, 1), turns.withPermit(Effect.promise(work))).pipe(
          Effect.ensuring(Effect.sync(() => waiting--))
        )
      })

    const hash = (password: string) => inTurn(() => hashOf(password, cost))
    const renewed = (password: string, old: string) =>
      Effect.flatMap(hash(password), (fresh) => repo.renewPassword(old, fresh)).pipe(
        Effect.catchCause((cause) => Effect.logWarning("an outdated password hash was not renewed", cause))
      )
    return {
      hash,
      verify: (password: string, old: string) =>
        Effect.tap(
          inTurn(() => matches(password, old)),
          (same) => same && hasArgon2 && !old.startsWith(prefixOf(cost)) ? renewed(password, old) : Effect.void
        ),
      concurrency
    }
  })
}) {
  static readonly layer = Layer.effect(Passwords, Passwords.make)
}
