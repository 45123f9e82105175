import { Context, DateTime, Effect, Layer } from "effect"
import { CurrentActor } from "../access/Actor.ts"
import { Conflict, NotFound, Unavailable, ValidationFailed } from "../errors/ApiErrors.ts"
import { newId } from "../ids/Id.ts"
import { Jobs } from "../jobs/Jobs.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import { over } from "../pricing/Bounds.ts"
import { places } from "./DeliverySlots.ts"
import { encryptSecret, type Keyring } from "./SecretEncryption.ts"
import { secretOwner, WebhookAttempts } from "./WebhookAttempts.ts"
import type { Redelivery, WebhookDelivery } from "./WebhookDelivery.ts"
import { WebhookDeliveryRepo } from "./WebhookDeliveryRepo.ts"
import { WebhookDispatchRepo } from "./WebhookDispatchRepo.ts"
import type {
  NewWebhookEndpoint,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointWithSecret
} from "./WebhookEndpoint.ts"
import { mostEndpoints, WebhookEndpointRepo } from "./WebhookEndpointRepo.ts"
import { anyEvent, WebhookEvents } from "./WebhookEvents.ts"
import { type StoredEndpoint, webhookIdOf } from "./WebhookRows.ts"
import { WebhookSettings } from "./WebhookSettings.ts"
import { newSecret, secretRefusal } from "./WebhookSignature.ts"
import { bodyOf, deliveryJob } from "./WebhookSubscriber.ts"
import { WebhookTransport } from "./WebhookTransport.ts"

/** Type of the message that `test` sends; endpoints cannot subscribe to it. */
export const testEvent = "webhooks.test"

const noKey = Unavailable.of("Webhooks are not available: the service has no key for their secrets (STOA_SECRETS_KEY).")
const tooManyTests = Unavailable.of("Other tests of webhook endpoints are under way. Try again shortly.")
const unknownEndpoint = NotFound.of("Webhook endpoint not found.")

/** Tests of an organization that one process sends at the same time: each may last as long as its receiver likes. */
const testsAtOnce = 4

/** Webhook endpoints and what was sent to them (spec §4, contract, platform §9). */
export class Webhooks extends Context.Service<Webhooks, {
  /** 422 for a URL, an event or a secret that is refused; 503 while the deployment has no key for secrets. */
  readonly register: (
    input: NewWebhookEndpoint
  ) => Effect.Effect<WebhookEndpointWithSecret, ValidationFailed | Conflict | Unavailable, CurrentActor>
  readonly list: (page: PageRequest) => Effect.Effect<PageOf<WebhookEndpoint>, never, CurrentActor>
  readonly get: (id: string) => Effect.Effect<WebhookEndpoint, NotFound, CurrentActor>
  readonly change: (
    id: string,
    input: WebhookEndpointChange
  ) => Effect.Effect<WebhookEndpoint, NotFound | ValidationFailed, CurrentActor>
  readonly remove: (id: string) => Effect.Effect<void, NotFound, CurrentActor>
  /** Gives the endpoint another secret; the one before it signs too for some hours (`webhooks.rotationHours`). */
  readonly rotateSecret: (
    id: string,
    secret: string | null | undefined
  ) => Effect.Effect<WebhookEndpointWithSecret, NotFound | ValidationFailed | Unavailable, CurrentActor>
  /**
   * Sends a message of the type `webhooks.test` at once and returns the result; a failed delivery is not a failed
   * request. 503 at the limit of concurrent tests of the organization in this process.
   */
  readonly test: (id: string) => Effect.Effect<WebhookDelivery, NotFound | Unavailable, CurrentActor>
  /** Attempts, newest first. */
  readonly deliveries: (
    id: string,
    page: PageRequest
  ) => Effect.Effect<PageOf<WebhookDelivery>, NotFound, CurrentActor>
  /** Sends the event of an attempt again, with the same id and body. 409 while its endpoint is switched off. */
  readonly redeliver: (deliveryId: string) => Effect.Effect<Redelivery, NotFound | Conflict, CurrentActor>
}>()("stoa/domain/webhooks/Webhooks") {
  static readonly layer = Layer.effect(
    Webhooks,
    Effect.gen(function*() {
      const inputs = yield* checks
      const endpoints = yield* endpointUseCases(inputs)
      return { ...endpoints, ...(yield* deliveryUseCases) }
    })
  )
}

const clock = Effect.map(DateTime.now, DateTime.toDateUtc)

/** Checks of a request before anything is written. */
const checks = Effect.gen(function*() {
  const { names } = yield* WebhookEvents
  const { keyring } = yield* WebhookSettings
  const transport = yield* WebhookTransport

  const events = (sent: ReadonlyArray<string>) => {
    const issues = sent.flatMap((name, index) =>
      name === anyEvent || names.has(name)
        ? []
        : [{ path: `events.${index}`, message: `there is no event '${name}'`, code: "unknown_event" }]
    )
    return issues.length === 0 ? Effect.void : Effect.fail(ValidationFailed.issues(issues))
  }

  const url = (sent: string) =>
    Effect.mapError(transport.admit(sent), ({ message }) => ValidationFailed.of("url", message, "target_refused"))

  const secret = (sent: string | null | undefined) => {
    if (sent === undefined || sent === null) return Effect.sync(newSecret)
    const refusal = secretRefusal(sent)
    return refusal === undefined ? Effect.succeed(sent) : Effect.fail(ValidationFailed.of("secret", refusal))
  }

  const key: Effect.Effect<Keyring, Unavailable> = keyring === undefined ? Effect.fail(noKey) : Effect.succeed(keyring)

  return { events, url, secret, key }
})

const endpointUseCases = Effect.fnUntraced(function*(check: Effect.Success<typeof checks>) {
  const repo = yield* WebhookEndpointRepo
  const { rotationHours } = yield* WebhookSettings

  const register = Effect.fn("Webhooks.register")(function*(input: NewWebhookEndpoint) {
    const { organizationId } = yield* CurrentActor
    yield* check.events(input.events)
    const secret = yield* check.secret(input.secret)
    const keyring = yield* check.key
    yield* check.url(input.url)
    const now = yield* clock
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
    if (!made) return yield* Conflict.of(`An organization has at most ${mostEndpoints} webhook endpoints.`)
    return { ...endpoint, secret }
  })

  const get = Effect.fn("Webhooks.get")(function*(id: string) {
    return ((yield* repo.find(id)) ?? (yield* unknownEndpoint)).endpoint
  })

  const change = Effect.fn("Webhooks.change")(function*(id: string, input: WebhookEndpointChange) {
    yield* get(id)
    if (input.events !== undefined) yield* check.events(input.events)
    if (input.url !== undefined) yield* check.url(input.url)
    const updatedAt = yield* clock
    const changed = yield* repo.change(id, (before) => ({
      ...before,
      url: over(input.url, before.url),
      events: input.events === undefined ? before.events : [...new Set(input.events)],
      description: over(input.description, before.description),
      metadata: over(input.metadata, before.metadata) ?? {},
      isActive: over(input.isActive, before.isActive),
      // Switching an endpoint on, or changing its address, ends its series of failures.
      ...(input.isActive === true && !before.isActive || input.url !== undefined && input.url !== before.url
        ? { failingSince: null }
        : {}),
      ...(input.isActive === true ? { disabledAt: null, disabledReason: null } : {}),
      updatedAt
    }))
    return changed ?? (yield* unknownEndpoint)
  })

  const remove = Effect.fn("Webhooks.remove")(function*(id: string) {
    if (!(yield* repo.remove(id))) return yield* unknownEndpoint
  })

  const rotateSecret = Effect.fn("Webhooks.rotateSecret")(function*(id: string, sent: string | null | undefined) {
    const { organizationId } = yield* CurrentActor
    const secret = yield* check.secret(sent)
    const encrypted = encryptSecret(yield* check.key, secretOwner(organizationId, id), secret)
    const now = yield* clock
    const previousUntil = new Date(now.getTime() + rotationHours * 3_600_000)
    const endpoint = (yield* repo.rotate(id, { secret: encrypted, previousUntil, now })) ?? (yield* unknownEndpoint)
    return { ...endpoint, secret }
  })

  return { register, list: repo.list, get, change, remove, rotateSecret }
})

const deliveryUseCases = Effect.gen(function*() {
  const attempts = yield* WebhookAttempts
  const dispatches = yield* WebhookDispatchRepo
  const endpoints = yield* WebhookEndpointRepo
  const jobs = yield* Jobs
  const repo = yield* WebhookDeliveryRepo

  const slots = places()

  const send = Effect.fnUntraced(function*(stored: StoredEndpoint) {
    const { id } = stored.endpoint
    const eventId = newId()
    const data = { endpointId: id, message: "This is a test." }
    const body = bodyOf({ id: webhookIdOf(eventId), type: testEvent, at: yield* clock, data })
    const result = yield* attempts.send(stored, { id: webhookIdOf(eventId), type: testEvent, body })
    return yield* repo.record({
      ...result,
      id: newId(),
      endpointId: id,
      eventId,
      eventName: testEvent,
      attemptCount: 1,
      delivered: result.error === null,
      nextRetryAt: null,
      at: yield* clock
    })
  })

  const test = Effect.fn("Webhooks.test")(function*(id: string) {
    const stored = (yield* endpoints.find(id)) ?? (yield* unknownEndpoint)
    const { organizationId } = yield* CurrentActor
    return yield* Effect.acquireUseRelease(
      Effect.sync(() => slots.enter(organizationId, testsAtOnce)),
      (entered) => entered ? send(stored) : Effect.fail(tooManyTests),
      (entered) => Effect.sync(() => entered && slots.leave(organizationId))
    )
  })

  const deliveries = Effect.fn("Webhooks.deliveries")(function*(id: string, page: PageRequest) {
    if ((yield* endpoints.find(id)) === undefined) return yield* unknownEndpoint
    return yield* repo.list(id, page)
  })

  const redeliver = Effect.fn("Webhooks.redeliver")(function*(deliveryId: string) {
    const delivery = (yield* repo.find(deliveryId)) ?? (yield* NotFound.of("Delivery not found."))
    const { message, stored } = yield* dispatches.due(delivery.endpointId, delivery.eventId)
    if (stored === undefined) return yield* unknownEndpoint
    if (message === undefined) return yield* NotFound.of("The event of this delivery is not kept.")
    if (!stored.endpoint.isActive) return yield* Conflict.of("The webhook endpoint is switched off.")
    const { input, options, task } = deliveryJob({ ...message, endpointId: delivery.endpointId })
    // The service builds the input, so a refusal by the queue is a defect.
    const jobId = yield* Effect.catch(jobs.enqueue(task, { ...input, redelivery: true }, options), Effect.die)
    const { endpointId, eventId, webhookId } = delivery
    return { jobId, endpointId, eventId, webhookId }
  })

  return { test, deliveries, redeliver }
})
