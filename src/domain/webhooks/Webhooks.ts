import { Context, DateTime, Effect, Layer, Option, RcMap, Semaphore } from "effect"
import { CurrentActor } from "../platform/access/Actor.ts"
import { Unavailable, ValidationFailed } from "../platform/errors/ApiErrors.ts"
import { conflict, invalid, notFound } from "../platform/errors/ErrorKinds.ts"
import { announcedNames } from "../platform/events/EventSubscribers.ts"
import { newId, type WebhookDeliveryId, type WebhookEndpointId } from "../platform/ids/Id.ts"
import { Jobs } from "../platform/jobs/Jobs.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { over } from "../platform/text/Fields.ts"
import { encryptSecret, type Keyring, newSecret, secretOwner, secretRefusal } from "./SecretEncryption.ts"
import { deliveryJob, deliveryOf, webhookIdOf } from "./WebhookDelivery.ts"
import {
  anyEvent,
  type NewWebhookEndpoint,
  type WebhookEndpoint,
  type WebhookEndpointChange
} from "./WebhookEndpoint.ts"
import { maxEndpoints, type StoredEndpoint, WebhookDeliveryRepo, WebhookEndpointRepo } from "./WebhookRepo.ts"
import { WebhookSender, WebhookSettings } from "./WebhookSender.ts"

/** Endpoints cannot subscribe to it. */
const testEvent = "webhooks.test"

const noKey = Unavailable.of("Webhooks are not available: the service has no key for their secrets (STOA_SECRETS_KEY).")
const tooManyTests = Unavailable.of("Other tests of webhook endpoints are under way. Try again shortly.")

export class EndpointNotFound extends notFound("WebhookEndpoint", "Webhook endpoint not found.") {}
export class DeliveryNotFound extends notFound("WebhookDelivery", "Delivery not found.") {}
export class EventNotKept extends notFound("WebhookEvent", "The event of this delivery is not kept.") {}
export class EndpointSwitchedOff
  extends conflict("WebhookEndpointSwitchedOff", "The webhook endpoint is switched off.")
{}
export class TooManyEndpoints
  extends conflict("TooManyWebhookEndpoints", `An organization has at most ${maxEndpoints} webhook endpoints.`)
{}
export class UrlRefused extends invalid("WebhookUrl", "url", (reason: string) => reason, "target_refused") {}
export class SecretRefused extends invalid("WebhookSecret", "secret", (reason: string) => reason) {}

/** Per organization and process: a receiver may take its time to answer. */
const maxTests = 4

/** Webhook endpoints and their deliveries (spec §4, contract, platform §9). */
export class Webhooks extends Context.Service<Webhooks>()("stoa/domain/webhooks/Webhooks", {
  make: Effect.gen(function*() {
    const inputs = yield* checks
    const endpoints = yield* endpointUseCases(inputs)
    return { ...endpoints, ...(yield* deliveryUseCases) }
  })
}) {
  static readonly layer = Layer.effect(Webhooks, Webhooks.make)
}

const checks = Effect.gen(function*() {
  const names = yield* announcedNames
  const { keyring } = yield* WebhookSettings
  const sender = yield* WebhookSender

  const events = (sent: ReadonlyArray<string>) => {
    const issues = sent.flatMap((name, index) =>
      name === anyEvent || names.has(name)
        ? []
        : [{ path: `events.${index}`, message: `events.${index} names no event: '${name}'.`, code: "unknown_event" }]
    )
    return issues.length === 0 ? Effect.void : Effect.fail(ValidationFailed.issues(issues))
  }

  const url = (sent: string) => Effect.mapError(sender.admit(sent), ({ message }) => new UrlRefused(message))

  const secret = (sent: string | null | undefined) => {
    if (sent === undefined || sent === null) return Effect.sync(newSecret)
    const refusal = secretRefusal(sent)
    return refusal === undefined ? Effect.succeed(sent) : Effect.fail(new SecretRefused(refusal))
  }

  const key: Effect.Effect<Keyring, Unavailable> = keyring === undefined ? Effect.fail(noKey) : Effect.succeed(keyring)

  return { events, url, secret, key }
})

const endpointUseCases = Effect.fnUntraced(function*(check: Effect.Success<typeof checks>) {
  const repo = yield* WebhookEndpointRepo
  const { rotationHours } = yield* WebhookSettings

  /** 422 for an invalid URL, event or secret; 503 while the deployment has no key for secrets. */
  const register = Effect.fn("Webhooks.register")(function*(input: NewWebhookEndpoint) {
    const { organizationId } = yield* CurrentActor
    yield* check.events(input.events)
    const secret = yield* check.secret(input.secret)
    const keyring = yield* check.key
    yield* check.url(input.url)
    const now = yield* DateTime.nowAsDate
    const endpoint: WebhookEndpoint = {
      id: newId(),
      organizationId,
      url: input.url,
      description: input.description ?? null,
      events: [...new Set(input.events)],
      isActive: true,
      failingSince: null,
      disabledAt: null,
      disabledReason: null,
      metadata: input.metadata ?? {},
      createdAt: now,
      updatedAt: now
    }
    const made = yield* repo.insert(endpoint, encryptSecret(keyring, secretOwner(organizationId, endpoint.id), secret))
    if (!made) return yield* new TooManyEndpoints()
    return { ...endpoint, secret }
  })

  const get = Effect.fn("Webhooks.get")(function*(id: WebhookEndpointId) {
    return (yield* repo.find(id)) ?? (yield* new EndpointNotFound())
  })

  const change = Effect.fn("Webhooks.change")(function*(id: WebhookEndpointId, input: WebhookEndpointChange) {
    yield* get(id)
    if (input.events !== undefined) yield* check.events(input.events)
    if (input.url !== undefined) yield* check.url(input.url)
    const updatedAt = yield* DateTime.nowAsDate
    const changed = yield* repo.change(id, (before) =>
      Effect.succeed({
        ...before,
        url: over(input.url, before.url),
        events: input.events === undefined ? before.events : [...new Set(input.events)],
        description: over(input.description, before.description),
        metadata: over(input.metadata, before.metadata) ?? {},
        isActive: over(input.isActive, before.isActive),
        ...(input.isActive === true && !before.isActive || input.url !== undefined && input.url !== before.url
          ? { failingSince: null }
          : {}),
        ...(input.isActive === true ? { disabledAt: null, disabledReason: null } : {}),
        updatedAt
      }))
    return changed ?? (yield* new EndpointNotFound())
  })

  const remove = Effect.fn("Webhooks.remove")(function*(id: WebhookEndpointId) {
    if ((yield* repo.remove(id)) === undefined) return yield* new EndpointNotFound()
  })

  /** The previous secret signs too for some hours (`webhooks.rotationHours`). */
  const rotateSecret = Effect.fn("Webhooks.rotateSecret")(
    function*(id: WebhookEndpointId, sent: string | null | undefined) {
      const { organizationId } = yield* CurrentActor
      const secret = yield* check.secret(sent)
      const encrypted = encryptSecret(yield* check.key, secretOwner(organizationId, id), secret)
      const now = yield* DateTime.nowAsDate
      const previousUntil = new Date(now.getTime() + rotationHours * 3_600_000)
      const endpoint = (yield* repo.rotate(id, { secret: encrypted, previousUntil, now })) ??
        (yield* new EndpointNotFound())
      return { ...endpoint, secret }
    }
  )

  return { register, list: repo.list, get, change, remove, rotateSecret }
})

const deliveryUseCases = Effect.gen(function*() {
  const deliveryLog = yield* WebhookDeliveryRepo
  const endpoints = yield* WebhookEndpointRepo
  const jobs = yield* Jobs
  const sender = yield* WebhookSender
  const slots = yield* RcMap.make({ lookup: (_organization: string) => Semaphore.make(maxTests) })

  const send = Effect.fnUntraced(function*(endpoint: StoredEndpoint) {
    const eventId = newId()
    const id = webhookIdOf(eventId)
    const data = { endpointId: endpoint.id, message: "This is a test." }
    const body = JSON.stringify({ id, type: testEvent, timestamp: yield* DateTime.nowAsDate, data })
    const result = yield* sender.send(endpoint, { id, type: testEvent, body })
    const delivery = deliveryOf(endpoint, { id: eventId, type: testEvent }, result, yield* DateTime.nowAsDate)
    yield* deliveryLog.record(delivery)
    return delivery
  })

  /** Sends `webhooks.test` at once; a failed delivery is not a failed request. 503 at the limit of concurrent tests. */
  const test = Effect.fn("Webhooks.test")(function*(id: WebhookEndpointId) {
    const endpoint = (yield* endpoints.findWithSecrets(id)) ?? (yield* new EndpointNotFound())
    const slot = yield* RcMap.get(slots, endpoint.organizationId)
    return yield* Effect.flatMap(
      slot.withPermitsIfAvailable(1)(send(endpoint)),
      Option.match({ onNone: () => Effect.fail(tooManyTests), onSome: Effect.succeed })
    )
  }, Effect.scoped)

  const deliveries = Effect.fn("Webhooks.deliveries")(function*(id: WebhookEndpointId, page: PageRequest) {
    if ((yield* endpoints.find(id)) === undefined) return yield* new EndpointNotFound()
    return yield* deliveryLog.list(id, page)
  })

  /** Sends the event again, with the same id and body. 409 while its endpoint is switched off. */
  const redeliver = Effect.fn("Webhooks.redeliver")(function*(deliveryId: WebhookDeliveryId) {
    const delivery = (yield* deliveryLog.find(deliveryId)) ?? (yield* new DeliveryNotFound())
    const { endpointId, entityId, entityType, eventId, organizationId, webhookId } = delivery
    const { isActive } = (yield* endpoints.find(endpointId)) ?? (yield* new EndpointNotFound())
    if (entityType === null || entityId === null) {
      return yield* new EventNotKept()
    }
    if (!isActive) return yield* new EndpointSwitchedOff()
    const { input, options, task } = deliveryJob({ organizationId, endpointId, eventId, entityType, entityId })
    // The service builds the input, so a refusal by the queue is a defect.
    const jobId = yield* Effect.catch(jobs.enqueue(task, { ...input, redelivery: true }, options), Effect.die)
    return { jobId, endpointId, eventId, webhookId }
  })

  return { test, deliveries, redeliver }
})
