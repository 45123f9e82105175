import { DateTime, Effect, Schema } from "effect"
import {
  about,
  apiError,
  CustomerId,
  type EventCall,
  inputOf,
  invalid,
  type PluginCall,
  type PluginDatabase,
  rowIn,
  StorableObject,
  type StoreEvent,
  Text
} from "stoa/plugin"
import { wantedBy } from "./Channel.ts"
import { declinable } from "./Declining.ts"
import { messages } from "./Log.ts"
import { type Concerned, concernedOf, isPaid, type NewMessage, openDigest, queueMessages } from "./MessagesRepo.ts"
import { admin, NotificationOptions, type NotificationSettings, routes } from "./NotificationOptions.ts"
import { CustomerNotFound, destinationOf, isDeclined, type Preference, preferences } from "./Preferences.ts"
import { render } from "./Rendering.ts"
import { inLocale, type Template, templates } from "./Templates.ts"

/** The job that sends what is due. */
export const sendTask = "notifications/send"

const isUuid = Schema.is(Schema.String.check(Schema.isUUID()))
/** An id of the core; plugins have records with others. */
const idIn = (value: unknown): string | null => isUuid(value) ? value : null

/** Whom an event is about: the customer of its record, its `customerId`, which some give as a login, or its order, or the guest of that. */
const concernedBy = (db: PluginDatabase, { data, entityId, entityType }: StoreEvent) =>
  db.use(concernedOf)({
    customerId: idIn(entityType === "customer" ? entityId : data["customerId"]),
    login: typeof data["customerId"] === "string" ? data["customerId"] : null,
    orderId: idIn(entityType === "order" ? entityId : data["orderId"])
  })

/** Where a template reaches who is concerned; null when it does not. Prints are for the store, for each event. */
const recipientOf = (
  { category, channel, printerId }: Template,
  customer: Concerned,
  said: ReadonlyArray<Preference>
): string | null => {
  if (channel === "print") return printerId
  if (isDeclined(said, channel, category)) return null
  if (channel === "in_app") return customer.id
  const profile = { email: customer.email, sms: customer.phone, push: null }[channel]
  return destinationOf(said, channel, category) ?? profile
}

/** What templates can name of the customer. */
const shownOf = ({ email, firstName, lastName }: Concerned) => ({ email, firstName, lastName })

/** A message of a template, whose digest waits for it. */
const messageOf = Effect.fnUntraced(function*(
  db: PluginDatabase,
  template: Template,
  recipient: string,
  data: object,
  rest: Pick<NewMessage, "customerId" | "eventId">
) {
  const { category, channel, delayMinutes, digestMinutes, event, id } = template
  const now = yield* DateTime.nowAsDate
  if (digestMinutes > 0) yield* db.turn(`${id}/${recipient}`)
  const groupId = digestMinutes === 0 ? null : yield* db.use(openDigest)(id, recipient, now)
  const nextAt = new Date(now.getTime() + (delayMinutes + digestMinutes) * 60_000)
  const texts = yield* render(template, data).pipe(
    Effect.map((rendered) => ({ ...rendered, error: null })),
    Effect.catch((refused) => Effect.succeed({ subject: null, body: null, error: refused.error.message }))
  )
  const message = { channel, event, category, templateId: id, recipient, metadata: null }
  return { ...rest, ...message, ...texts, nextAt, groupId } satisfies NewMessage
})

/** A template that reaches someone; `isAdmitted` is false where that receiver got too many messages. */
interface Reached {
  readonly template: Template
  readonly recipient: string
  readonly isAdmitted: boolean
}

/** Messages about paid orders are not counted, and never lost. */
const aboutPaidOrder = (db: PluginDatabase, { data, entityId, entityType }: StoreEvent) => {
  const orderId = idIn(entityType === "order" ? entityId : data["orderId"])
  return orderId === null ? Effect.succeed(false) : db.use(isPaid)(orderId)
}

/** An event without one concerns no customer. */
export const activeTemplates = rowIn(templates, { column: "event", equals: "type", where: { isActive: true } })

/**
 * Queues what the active templates of an event say to who can be reached and has not declined (contract, plugins §17.19).
 * An event that comes again queues nothing.
 */
export const onEvent = Effect.fn("Notifications.onEvent")(function*({ db, event, jobs, services }: EventCall) {
  const found = yield* db.table(templates).list({ event: event.type, isActive: true })
  if (found.length === 0) return
  const customer = yield* concernedBy(db, event)
  if (customer === undefined) return
  const { defaultLocale } = yield* NotificationOptions
  const said = customer.id === null ? [] : yield* db.table(preferences).list({ customerId: customer.id })
  const data = { ...event.data, customer: shownOf(customer), event: { type: event.type, entityId: event.entityId } }
  const isFree = yield* aboutPaidOrder(db, event)
  const reached: Array<Reached> = []
  for (const channel of new Set(found.map((one) => one.channel))) {
    const template = inLocale(found.filter((one) => one.channel === channel), customer.locale, defaultLocale)
    const recipient = template === undefined ? null : recipientOf(template, customer, said)
    if (template === undefined || recipient === null) continue
    const isAdmitted = isFree || channel === "print" || channel === "in_app" || (yield* services.mail.count(recipient))
    reached.push({ template, recipient, isAdmitted })
  }
  yield* db.transaction(Effect.gen(function*() {
    const queued: Array<NewMessage> = []
    for (const { isAdmitted, recipient, template } of reached) {
      const message = yield* messageOf(db, template, recipient, data, { customerId: customer.id, eventId: event.id })
      queued.push(
        isAdmitted ? message : { ...message, error: "The receiver has received too many messages.", isSuppressed: true }
      )
    }
    if (queued.length > 0 && (yield* db.use(queueMessages)(queued)).length > 0) yield* jobs.enqueue(sendTask, {})
  }))
})

class OptedOut
  extends apiError("OptedOut", { status: 409, code: "OPTED_OUT" }, "The receiver declined these messages.")
{}

class NoAddress extends invalid(
  "NoAddress",
  "recipient",
  (words: string) => `recipient must be ${words}, because the channel reaches no other.`
) {}

/** Why nothing can be sent on this channel; null when something can. */
export const missingWay = (
  channel: NewMessage["channel"],
  { adapters }: Pick<NotificationSettings, "adapters">,
  { services }: Pick<PluginCall, "services">
): string | null => {
  if (channel === "in_app" || channel === "print" || adapters.some((one) => one.channel === channel)) return null
  if (channel === "email") return services.mail.isOn ? null : "This deployment sends no mail."
  return `There is no adapter for ${channel}.`
}

const Sending = Schema.Struct({
  ...inputOf(messages, { required: ["event", "channel"] }).fields,
  recipient: Text.pipe(about("Address of the channel: e-mail, number, device, printer or id of the customer.")),
  customerId: Schema.optional(CustomerId),
  locale: Schema.optional(Text),
  data: Schema.optional(StorableObject),
  metadata: Schema.optional(StorableObject)
})

/** `POST /send` (contract, plugins §8): to whom staff says, with the template of this name. */
export const sendRoute = routes.post("/send", {
  summary: "Send a message",
  description:
    "It is queued; without a template or an adapter it is failed, with the reason. 404 without the customer, 422 for a receiver that the channel does not reach.",
  permission: admin,
  input: Sending,
  success: messages.Row,
  errors: [OptedOut]
}).handle((call) =>
  call.db.transaction(Effect.gen(function*() {
    const { db, input: { channel, customerId, data, event, locale, metadata, recipient }, jobs } = call
    const settings = yield* NotificationOptions
    const wanted = wantedBy(channel, recipient)
    if (wanted !== null) return yield* new NoAddress(wanted)
    const customer = customerId === undefined ? undefined : yield* db.use(concernedOf)({ customerId, orderId: null })
    if (customerId !== undefined && customer === undefined) return yield* new CustomerNotFound()
    const found = yield* db.table(templates).list({ event, channel, isActive: true })
    const template = inLocale(found, locale ?? customer?.locale ?? null, settings.defaultLocale)
    const said = customerId === undefined ? [] : yield* db.table(preferences).list({ customerId })
    if (isDeclined(said, channel, template?.category ?? "*")) return yield* new OptedOut()
    const about = declinable(settings, { category: template?.category ?? null, channel, recipient })
    if (about !== undefined && (yield* call.services.mail.declined([about])).length > 0) return yield* new OptedOut()
    const shown = customer === undefined ? {} : { customer: shownOf(customer) }
    const rest = { customerId: customerId ?? null, eventId: null }
    const failed = { channel, event, recipient, category: null, templateId: null, subject: null, body: null }
    const message: NewMessage = template === undefined
      ? { ...rest, ...failed, metadata: null, error: "", nextAt: yield* DateTime.nowAsDate, groupId: null }
      : yield* messageOf(db, template, recipient, { ...data, ...shown, event: { type: event } }, rest)
    const error = template === undefined
      ? `There is no active template for ${event} on ${channel}.`
      : message.error ?? missingWay(channel, settings, call)
    const [id = ""] = yield* db.use(queueMessages)([{ ...message, error, metadata: metadata ?? null }])
    if (error === null) yield* jobs.enqueue(sendTask, {})
    return yield* db.table(messages).get(id)
  }))
)
