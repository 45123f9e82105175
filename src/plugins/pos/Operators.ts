import { DateTime, Effect, Redacted, Schema } from "effect"
import { pbkdf2, randomBytes, timingSafeEqual } from "node:crypto"
import { promisify } from "node:util"
import {
  about,
  apiError,
  ApiKeyId,
  boolean,
  forbidden,
  integer,
  invalid,
  isUuid,
  notFound,
  type PluginCall,
  secret,
  table,
  Text,
  text,
  Time,
  timestamp,
  Unauthorized,
  uuid
} from "stoa/plugin"
import { endLogins } from "./Logins.ts"
import { actions, issueOverride } from "./Overrides.ts"
import { countTry } from "./PinAttemptsRepo.ts"
import { pinRules, PosOptions } from "./PosOptions.ts"
import { logins, shifts } from "./Shifts.ts"
import { admin, devices, routes, tillOrDevice } from "./Terminals.ts"

/** PINs of people at tills, as PBKDF2 and encrypted. */
export const pins = table("pos_operator_pins", {
  operatorId: text.unique(),
  pinHash: secret,
  canOverride: boolean.default(false)
})

export const attempts = table("pos_pin_attempts", {
  operatorId: text.unique(),
  failedCount: integer.default(0),
  lockedUntil: timestamp.nullable
}, { changeLog: false, counted: false })

class NotStaff extends invalid("NotStaff", "operatorId", "operatorId must name a member of the staff.") {}
class NoPin extends notFound("PosPin", "This operator has no PIN.") {}
class WeakPin extends invalid(
  "WeakPin",
  "pin",
  "pin must not be a row of equal or of ascending or descending digits."
) {}
class MayNotOverride extends forbidden("MayNotOverride", "This operator may not allow exceptions (canOverride).") {}
const locked = (seconds: number) =>
  class extends apiError(
    "PinLocked",
    { status: 429, code: "PIN_LOCKED", retryAfter: seconds },
    "Too many wrong PINs. Try again later."
  ) {}
const PinLocked = locked(1)

const derive = promisify(pbkdf2)
const rounds = 100_000

const hashOf = (pin: string, salt: Buffer) => Effect.promise(() => derive(pin, salt, rounds, 32, "sha256"))

/** `pbkdf2-sha256$<rounds>$<salt>$<hash>`, both in base64url. */
const stored = Effect.fnUntraced(function*(pin: string) {
  const salt = randomBytes(16)
  return ["pbkdf2-sha256", rounds, salt.toString("base64url"), (yield* hashOf(pin, salt)).toString("base64url")].join(
    "$"
  )
})

/** Costs the same time for an operator without a PIN. */
const matches = Effect.fnUntraced(function*(pin: string, kept: string | undefined) {
  const [, , salt = "", expected = ""] = kept?.split("$") ?? []
  const actual = yield* hashOf(pin, Buffer.from(salt, "base64url"))
  const known = Buffer.from(expected, "base64url")
  return kept !== undefined && known.length === actual.length && timingSafeEqual(known, actual)
})

const isWeak = (pin: string): boolean => {
  const steps = new Set([...pin].slice(1).map((digit, at) => Number(digit) - Number(pin[at])))
  const [only] = steps
  return steps.size === 1 && (only === 0 || only === 1 || only === -1)
}

const Pin = Schema.String.check(Schema.isPattern(/^\d{4,8}$/, { expected: "a PIN of 4 to 8 digits" })).annotate({
  examples: ["7294"]
})
const Operator = Text.annotate({ description: "The id of a user who belongs to the staff." })

/** The operator, if the PIN is right: 401; 429 after too many tries, also for the right one. */
const identified = Effect.fn("Operators.identified")(
  function*({ asStore, db, services }: PluginCall, operatorId: string, pin: string) {
    const { lockoutMaxAttempts, lockoutWindowMinutes } = pinRules(yield* PosOptions)
    const now = yield* DateTime.nowAsDate
    const known = yield* db.table(pins).first({ operatorId })
    const until = new Date(now.getTime() + lockoutWindowMinutes * 60_000)
    const tried = known === undefined
      ? undefined
      : yield* db.use(countTry)(operatorId, now, lockoutMaxAttempts, until)
    if (tried?.isLocked === true) {
      const seconds = Math.max(1, Math.ceil(((tried.lockedUntil ?? until).getTime() - now.getTime()) / 1_000))
      return yield* new (locked(seconds))()
    }
    const kept = known === undefined ? null : yield* db.table(pins).secret(known.id, "pinHash")
    const isRight = yield* matches(pin, kept === null ? undefined : Redacted.value(kept))
    const isStaff = isRight && (yield* asStore(services.users.isMember(operatorId)))
    if (known === undefined || !isStaff) return yield* Unauthorized.of()
    yield* db.table(attempts).updateMany({ operatorId }, { failedCount: 0, lockedUntil: null })
    return known
  }
)

const setPin = Effect.fn("Operators.setPin")(
  function*(
    { asStore, db, services }: PluginCall,
    { canOverride, operatorId, pin }: typeof NewPin.Type
  ) {
    const { refuseWeak } = pinRules(yield* PosOptions)
    if (refuseWeak && isWeak(pin)) return yield* new WeakPin()
    if (!(yield* asStore(services.users.isMember(operatorId)))) return yield* new NotStaff()
    const pinHash = yield* stored(pin)
    const known = yield* db.table(pins).first({ operatorId })
    const row = known === undefined
      ? yield* db.table(pins).insert({ operatorId, pinHash, canOverride })
      : yield* db.table(pins).update(known.id, { pinHash, canOverride })
    yield* db.table(attempts).updateMany({ operatorId }, { failedCount: 0, lockedUntil: null })
    return { operatorId, canOverride: row.canOverride }
  },
  (work, { db }) => db.transaction(work),
  (work, call, { operatorId }) => Effect.tap(work, () => endLogins(call, { operatorId }))
)

/** Takes the PIN of an operator away, and ends their logins. 404 without one. */
const removePin = Effect.fn("Operators.removePin")(function*(call: PluginCall, operatorId: string) {
  const known = (yield* call.db.table(pins).first({ operatorId })) ?? (yield* new NoPin())
  yield* call.db.table(pins).delete(known.id)
  yield* endLogins(call, { operatorId })
  return { operatorId, removed: true as const }
})

/** The till of a device that asks; undefined for other keys. */
export const ownTerminal = ({ actor, db }: Pick<PluginCall, "actor" | "db">) =>
  actor.keyId === undefined || !isUuid(actor.keyId)
    ? Effect.succeed(undefined)
    : Effect.map(
      db.table(devices).first({ apiKeyId: ApiKeyId.make(actor.keyId), revokedAt: null }),
      (device) => device?.terminalId
    )

const logIn = Effect.fn("Operators.logIn")(
  function*(call: PluginCall, { operatorId, pin, shiftId }: typeof Login.Type) {
    const { asStore, db, services } = call
    yield* identified(call, operatorId, pin)
    const { credentialTtlSeconds } = pinRules(yield* PosOptions)
    const terminalId = yield* ownTerminal(call)
    const at = terminalId === undefined ? {} : { terminalId }
    const found = shiftId === undefined
      ? yield* db.table(shifts).first({ operatorId, status: "open", ...at }, ["-createdAt"])
      : { id: shiftId }
    const now = yield* DateTime.nowAsDate
    const expiresAt = new Date(now.getTime() + credentialTtlSeconds * 1_000)
    const deviceKeyId = terminalId === undefined || call.actor.keyId === undefined
      ? null
      : ApiKeyId.make(call.actor.keyId)
    const { key, shift } = yield* db.transaction(Effect.gen(function*() {
      // A shift that is being closed ends the keys that it finds: this one is there before, or not at all.
      const shift = found === undefined
        ? undefined
        : yield* db.table(shifts).lock({ id: found.id, operatorId, status: "open" })
      const { apiKey, key } = yield* asStore(
        services.apiKeys.create({ name: `Till ${operatorId}`.slice(0, 64), scope: "pos", expiresAt }, operatorId)
      )
      yield* db.table(logins).insert({
        operatorId,
        shiftId: shift?.id ?? null,
        deviceKeyId,
        apiKeyId: apiKey.id,
        expiresAt
      })
      return { key, shift }
    }))
    return {
      operatorId,
      shiftId: shift?.id ?? null,
      terminalId: shift?.terminalId ?? terminalId ?? null,
      apiKey: key,
      expiresAt
    }
  }
)

const allow = Effect.fn("Operators.allow")(function*(call: PluginCall, asked: typeof Allowing.Type) {
  const { action, operatorId, pin, transactionId } = asked
  const { canOverride } = yield* identified(call, operatorId, pin)
  if (!canOverride) return yield* new MayNotOverride()
  return {
    approved: true as const,
    operatorId,
    action,
    ...yield* issueOverride(call, { operatorId, action, transactionId })
  }
})

const mayOverride = "May allow exceptions of other operators with the PIN."

const NewPin = Schema.Struct({
  operatorId: Operator,
  pin: Pin.pipe(about("New PIN. No answer shows it.")),
  canOverride: Schema.optional(Schema.Boolean).pipe(about(mayOverride))
})
const Login = Schema.Struct({
  operatorId: Operator,
  pin: Pin.pipe(about("PIN of the operator.")),
  shiftId: Schema.optional(
    uuid.schema.annotate({
      description: "An open shift of the operator. Default: the last one, at the till of the device."
    })
  )
})
const LoggedIn = Schema.Struct({
  operatorId: Schema.String,
  shiftId: Schema.NullOr(Schema.String),
  terminalId: Schema.NullOr(Schema.String),
  apiKey: Schema.String.annotate({
    description: "Acts as the operator, until logout, the end of the shift, or `expiresAt`."
  }),
  expiresAt: Time
})
const Allowing = Schema.Struct({
  operatorId: Operator,
  pin: Pin.pipe(about("PIN of the operator.")),
  action: Schema.Literals(actions).annotate({ description: "Exception that the token allows." }),
  transactionId: Schema.optional(uuid.schema.annotate({ description: "The token is for this one alone." }))
})
const Allowed = Schema.Struct({
  approved: Schema.Literal(true),
  operatorId: Schema.String,
  action: Schema.String.pipe(about("Exception that the token allows.")),
  approvedAt: Time,
  token: Schema.String.annotate({ description: "For x-pos-override, once, within 60 seconds." }),
  expiresAt: Time
})

export const operatorRoutes = [
  routes.put("/auth/pin", {
    summary: "Set the PIN of an operator",
    description:
      "Ends their logins. 422 for a weak PIN (`pinAuth.refuseWeak`) and for a person who is no member of the staff.",
    permission: admin,
    input: NewPin,
    strict: true,
    success: Schema.Struct({ operatorId: Schema.String, canOverride: Schema.Boolean.pipe(about(mayOverride)) })
  }).handle((call) => setPin(call, call.input)),
  routes.delete("/auth/pin/:operatorId", {
    summary: "Remove the PIN of an operator",
    description: "Their logins end. 404 without one.",
    permission: admin,
    params: { operatorId: Text },
    success: Schema.Struct({ operatorId: Schema.String, removed: Schema.Literal(true) })
  }).handle((call) => removePin(call, call.params.operatorId)),
  routes.post("/auth/pin-login", {
    summary: "Log an operator in by PIN",
    description: "401 for a wrong PIN; 429 after five, also for the right one, for 15 minutes. 404 without the shift.",
    ...tillOrDevice,
    rate: "strict",
    input: Login,
    success: LoggedIn,
    errors: [PinLocked]
  }).handle((call) => logIn(call, call.input)),
  routes.post("/auth/override", {
    summary: "Allow an exception by the PIN of a supervisor",
    description: "401, 429 as for a login; 403 for an operator without `canOverride`.",
    ...tillOrDevice,
    rate: "strict",
    input: Allowing,
    success: Allowed,
    errors: [PinLocked]
  }).handle((call) => allow(call, call.input)),
  routes.post("/auth/logout", {
    summary: "Log out",
    description: "Ends the key that asks, if a login by PIN gave it.",
    auth: true,
    success: Schema.Struct({ loggedOut: Schema.Boolean.pipe(about("False: the caller did not log in by PIN.")) })
  }).handle((call) =>
    Effect.gen(function*() {
      const { keyId } = call.actor
      if (keyId === undefined || !isUuid(keyId)) return { loggedOut: false }
      const where = { apiKeyId: ApiKeyId.make(keyId) }
      const isLogin = (yield* call.db.table(logins).first(where)) !== undefined
      yield* endLogins(call, where)
      return { loggedOut: isLogin }
    })
  )
]
