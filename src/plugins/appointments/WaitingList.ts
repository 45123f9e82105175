import { DateTime, Effect, Schema } from "effect"
import {
  dueTask,
  email,
  inputOf,
  oneOf,
  ownedBy,
  type PluginContext,
  resource,
  SentMoment,
  SentUntil,
  table,
  text,
  timestamp,
  uuid
} from "stoa/plugin"
import { firstWaiting } from "./AppointmentsRepo.ts"
import { type Booking, manage, providers, routes, serviceTypes, type Tools } from "./AppointmentTables.ts"
import { booker, customerOf, requireOwnEmail } from "./Customers.ts"
import { type AppointmentSettings, notify } from "./Notices.ts"
import { isStep, timeOf } from "./Openings.ts"

/** Who waits for a time to become free: of one provider, or of any. One that is offered is held for them. */
export const waiting = table("appointment_waiting_list", {
  serviceTypeId: uuid.references(serviceTypes),
  providerId: uuid.references(providers).nullable,
  customerId: text.about("Customer profile or user who waits."),
  customerName: text.about("Name to call the customer by."),
  customerEmail: email.about("Address that offers are sent to."),
  earliest: timestamp.about("First start that suits."),
  latest: timestamp.about("Last start that suits."),
  status: oneOf(["waiting", "offered", "booked", "expired"]).default("waiting").about(
    "offered: a time is held for the customer. expired: the wait or the offer ended."
  ),
  expiresAt: timestamp.about("When waiting, or an offer, is over."),
  offeredProviderId: uuid.references(providers).nullable,
  offeredStart: timestamp.nullable.about("Start of the appointment that is offered."),
  heldFrom: timestamp.nullable.about("Begin of the time that the offer holds, buffers included."),
  heldUntil: timestamp.nullable.about("End of the time that the offer holds.")
}, {
  unique: [{ columns: ["serviceTypeId", "customerId"], where: "status = 'waiting'" }],
  indexes: [
    { columns: ["serviceTypeId", "createdAt"], where: "status = 'waiting'" },
    { columns: ["offeredProviderId"], where: "status = 'offered'" },
    { columns: ["expiresAt"], where: "status in ('waiting', 'offered')" }
  ],
  personal: { of: { user: "customerId" }, onErase: "delete" },
  atMost: [{
    per: "customerId",
    rows: 20,
    where: "status in ('waiting', 'offered')",
    except: manage,
    refusal: "You can wait in at most 20 places. Leave one first."
  }],
  checks: {
    order: "earliest <= latest",
    offer: "status <> 'offered' or num_nulls(offered_provider_id, offered_start, held_from, held_until) = 0"
  }
})

/** A time that became free. */
type Opening = Pick<
  Booking,
  "blockedFrom" | "blockedUntil" | "customerId" | "providerId" | "serviceTypeId" | "startTime"
>

/** Offers a time that became free to the first who waits for one like it, and holds it for them for a while. */
export const offer = Effect.fn("WaitingList.offer")(
  function*(tools: Tools, { offerMinutes }: AppointmentSettings, opening: Opening) {
    const { blockedFrom, blockedUntil, providerId, serviceTypeId, startTime } = opening
    const now = yield* DateTime.now
    const service = yield* tools.db.table(serviceTypes).find(serviceTypeId)
    const provider = yield* tools.db.table(providers).find(providerId)
    // The service may have got other steps since the time was booked.
    if (service === undefined || provider === undefined || !isStep(service, provider, startTime)) return
    const last = DateTime.subtract(DateTime.makeUnsafe(startTime), { minutes: service.minNoticeMins })
    if (DateTime.isLessThanOrEqualTo(last, now)) return
    const id = yield* tools.db.use(firstWaiting)(opening)
    if (id === undefined) return
    const expiresAt = DateTime.toDateUtc(DateTime.min(last, DateTime.add(now, { minutes: offerMinutes })))
    const { customerEmail, customerName } = yield* tools.db.table(waiting).update(id, {
      status: "offered",
      expiresAt,
      offeredProviderId: providerId,
      offeredStart: startTime,
      heldFrom: blockedFrom,
      heldUntil: blockedUntil
    })
    yield* notify(tools, "opening", { ...opening, cancellationReason: null }, {
      email: customerEmail,
      key: id,
      person: customerName,
      until: expiresAt
    })
  }
)

/** Offers a time that was held for one to the next. */
const offerNext = (
  tools: Tools,
  settings: AppointmentSettings,
  { customerId, heldFrom, heldUntil, offeredProviderId, offeredStart, serviceTypeId, status }: typeof waiting.Row.Type
) =>
  status !== "offered" || offeredProviderId === null || offeredStart === null || heldFrom === null || heldUntil === null
    ? Effect.void
    : offer(tools, settings, {
      customerId,
      serviceTypeId,
      providerId: offeredProviderId,
      startTime: offeredStart,
      blockedFrom: heldFrom,
      blockedUntil: heldUntil
    })

/** Ends waiting for what is over, and offers that were not taken: the next one gets them. */
export const expiry = (context: PluginContext, settings: AppointmentSettings) =>
  dueTask(context, {
    slug: "appointments/waiting-list-expiry",
    schedule: "* * * * *",
    of: waiting,
    where: (now) => ({ status: { in: ["waiting", "offered"] }, expiresAt: { lte: now } }),
    each: (place, tools) =>
      Effect.andThen(
        tools.db.table(waiting).update(place.id, { status: "expired" }),
        offerNext(tools, settings, place)
      )
  })

/** Who has booked such a time waits no longer. */
export const stopWaiting = ({ db }: Tools, { customerId, serviceTypeId, startTime }: Booking) =>
  db.table(waiting).updateMany({
    serviceTypeId,
    customerId,
    status: { in: ["waiting", "offered"] },
    earliest: { lte: startTime },
    latest: { gte: startTime }
  }, { status: "booked" })

/** The waiting list: each customer sees their places, staff all of them. */
export const waitingListRoutes = (settings: AppointmentSettings) => [
  ...resource(routes, "/waiting-list", waiting, {
    noun: "place on the waiting list",
    list: { summary: "List places on the waiting list" },
    read: booker,
    write: booker,
    visible: ownedBy(waiting, { user: "customerId", staff: manage }),
    filters: ["status", "serviceTypeId", "providerId"],
    create: {
      summary: "Create a place on the waiting list",
      description:
        "The first who waits is offered one that is cancelled, by mail, and it is held for them for a while. 409 when the customer waits for this service already, 422 when service or provider do not exist or `latest` is before `earliest`. Times without an offset are local to the provider that is named.",
      input: Schema.Struct({
        ...inputOf(waiting, {
          required: ["serviceTypeId", "customerName", "customerEmail"],
          optional: ["providerId"]
        }).fields,
        earliest: SentMoment,
        latest: SentUntil
      }),
      answer: Effect.fnUntraced(function*(call) {
        const { actor, db, input } = call
        yield* requireOwnEmail(actor, input.customerEmail)
        const earliest = yield* timeOf(call, input.providerId, input.earliest)
        const latest = yield* timeOf(call, input.providerId, input.latest, "end")
        return yield* db.table(waiting)
          .insert({ ...input, earliest, latest, customerId: customerOf(actor), expiresAt: latest })
      })
    },
    patch: false,
    remove: (call) =>
      call.db.transaction(
        Effect.tap(call.db.table(waiting).delete(call.which), (place) => offerNext(call, settings, place))
      )
  })
]
