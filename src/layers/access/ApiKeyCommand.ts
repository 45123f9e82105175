import { Data, type DateTime, Effect, Layer, Option } from "effect"
import { CurrentActor, systemActor } from "../../domain/platform/access/Actor.ts"
import type { ApiKey } from "../../domain/platform/access/ApiKey.ts"
import { CacheInvalidation } from "../../domain/platform/access/CacheInvalidation.ts"
import { ApiKeyRepo } from "../../domain/platform/credentials/ApiKeyRepo.ts"
import { ApiKeys } from "../../domain/platform/credentials/ApiKeys.ts"
import { ApiKeyId } from "../../domain/platform/ids/Id.ts"
import { StoreSettings } from "../../domain/platform/settings/StoreSettings.ts"
import { OrganizationRepo } from "../../domain/platform/tenancy/OrganizationRepo.ts"
import { LocalTimeZone, readTime } from "../../domain/platform/text/Time.ts"
import { databaseApp } from "../App.ts"
import type { AppSettings } from "../config/AppConfig.ts"

export class KeyCommandRefused extends Data.TaggedError("KeyCommandRefused")<{ readonly message: string }> {}

const refuse = (message: string) => Effect.fail(new KeyCommandRefused({ message }))

const units: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** A duration from now (`12h`, `90d`, `8w`), or the end of a date; else undefined. */
export const endOf = (text: string, now: Date, zone: DateTime.TimeZone): Date | undefined => {
  const [, count, unit = ""] = /^(\d{1,5})([hdw])$/.exec(text) ?? []
  const unitMs = units[unit]
  if (count !== undefined && unitMs !== undefined) return new Date(now.getTime() + Number(count) * unitMs)
  return readTime(text, zone, "end")
}

export interface AskedKey {
  readonly name: string
  readonly role: Option.Option<string>
  readonly scope: Option.Option<string>
  readonly org: Option.Option<string>
  readonly expires: Option.Option<string>
}

const actingIn = Effect.fnUntraced(function*(asked: Option.Option<string>) {
  const organization = Option.getOrElse(asked, () => "") || (yield* StoreSettings).defaultOrganizationId
  return (yield* (yield* OrganizationRepo).exists(organization))
    ? systemActor(organization, "system:command-line")
    : yield* refuse(`There is no organization "${organization}".`)
})

const kindOf = ({ role, scope }: ApiKey): string => role === null ? `scope: ${scope ?? "-"}` : `role: ${role}`

const create = Effect.fnUntraced(function*({ expires, name, org, role, scope }: AskedKey) {
  const actor = yield* actingIn(org)
  const zone = yield* LocalTimeZone
  const expiresAt = Option.map(expires, (text) => endOf(text, new Date(), zone))
  if (Option.isSome(expiresAt) && expiresAt.value === undefined) {
    return yield* refuse("--expires must be a span such as 12h, 90d or 8w, or a date such as 2027-01-31.")
  }
  const input = {
    name,
    role: Option.getOrNull(role),
    scope: Option.getOrNull(scope),
    expiresAt: Option.getOrUndefined(expiresAt) ?? null
  }
  const { apiKey, key } = yield* Effect.provideService((yield* ApiKeys).create(input), CurrentActor, actor)
  const { keyScopes, roles } = yield* StoreSettings
  const permissions = apiKey.role === null ? keyScopes[apiKey.scope ?? ""]?.permissions : roles[apiKey.role]
  const may = (permissions ?? []).join(", ") || "no permissions"
  return [
    key,
    `id: ${apiKey.id}`,
    `organization: ${actor.organizationId}`,
    `${kindOf(apiKey)} (${may})`,
    `expires: ${apiKey.expiresAt?.toISOString() ?? "never"}`,
    "The key is shown this once and stored nowhere. Send it as x-api-key."
  ]
})

const lineOf = (key: ApiKey): string => {
  const { enabled, expiresAt, id, lastRequest, name, start } = key
  return [
    id,
    `${start ?? ""}…`,
    kindOf(key),
    enabled ? "enabled" : "disabled",
    `expires ${expiresAt?.toISOString() ?? "never"}`,
    `last used ${lastRequest?.toISOString() ?? "never"}`,
    name ?? ""
  ].join("  ")
}

const list = Effect.fnUntraced(function*(org: Option.Option<string>) {
  const actor = yield* actingIn(org)
  const keys = yield* ApiKeys
  const page = yield* Effect.provideService(keys.list({ page: 1, limit: 1_000 }), CurrentActor, actor)
  return page.items.length === 0
    ? [`The organization ${actor.organizationId} has no keys.`]
    : page.items.map(lineOf)
})

const revoke = Effect.fnUntraced(function*(id: string, org: Option.Option<string>) {
  const actor = yield* actingIn(org)
  yield* Effect.provideService((yield* ApiKeys).revoke(ApiKeyId.make(id.toLowerCase())), CurrentActor, actor)
  return [`The key ${id} opens nothing any more.`]
})

const asLine = <A, R>(
  work: Effect.Effect<A, { readonly error?: { readonly message: string }; readonly message?: string }, R>
) => Effect.catch(work, ({ error, message }) => refuse(error?.message ?? message ?? "The command failed."))

const services = (settings: AppSettings) =>
  ApiKeys.layer.pipe(
    Layer.provideMerge(Layer.merge(ApiKeyRepo.layer, OrganizationRepo.layer)),
    Layer.provideMerge(CacheInvalidation.layer),
    Layer.provideMerge(databaseApp(settings))
  )

export const keyCommands = (settings: AppSettings) => ({
  create: (asked: AskedKey) =>
    settings.auth.apiKeys.enabled
      ? Effect.provide(asLine(create(asked)), services(settings))
      : refuse("Stored keys open nothing: switch them on with auth.apiKeys.enabled in commerce.config.ts."),
  list: (org: Option.Option<string>) => Effect.provide(asLine(list(org)), services(settings)),
  revoke: (id: string, org: Option.Option<string>) => Effect.provide(asLine(revoke(id, org)), services(settings))
})
