/** Ends of a payment: paid, left to its shopper or to staff, refused at its authorization or at its capture. */
export const cards = ["pays", "asks", "kept", "declined", "broke"] as const
export type Card = typeof cards[number]

/** Where a run of a checkout stops; compensations pass `undone` twice. */
export type Boundary =
  | "claimed"
  | "reserved"
  | "authorized"
  | "created"
  | "captured"
  | "settled"
  | "undone"
  | "undone again"
  | "failed"

const beforeOrder = ["claimed", "reserved", "authorized"] as const
const undoing = ["undone", "undone again", "failed"] as const

/** The boundaries of a checkout that nothing disturbs, in their order. */
const pathOf: Record<Card, ReadonlyArray<Boundary>> = {
  pays: [...beforeOrder, "created", "captured", "settled"],
  asks: [...beforeOrder, "created"],
  kept: [...beforeOrder, "created"],
  declined: ["claimed", "reserved", ...undoing],
  broke: [...beforeOrder, "created", ...undoing]
}

/** The boundaries of the run that takes over from one that stopped there; none once the checkout has ended. */
const pathAfter = (card: Card, stoppedAt: Boundary): ReadonlyArray<Boundary> => {
  if (stoppedAt === "settled" || stoppedAt === "failed") return []
  if (stoppedAt === "created" || stoppedAt === "captured") {
    return card === "pays" ? ["captured", "settled"] : card === "broke" ? undoing : []
  }
  // The order of a refused capture is cancelled; the cart of a refused authorization is still claimed.
  if (stoppedAt === "undone" || stoppedAt === "undone again") {
    return card === "broke"
      ? undoing
      : ["claimed", ...undoing]
  }
  return pathOf[card]
}

/** When a repeat is sent: before the takeover, while the run that took over is stopped, after its end. */
export const moments = ["before", "beside", "after"] as const
export type Moment = typeof moments[number]

/** What else happens to a checkout whose first run has stopped. */
export interface Round {
  readonly card: Card
  readonly stoppedAt: Boundary
  /** Where the run that takes over stops; it then goes on, or dies and is repeated. */
  readonly otherAt: Boundary | "its end"
  readonly other: "goes on" | "dies"
  /** When the first run goes on; never: it was killed. */
  readonly wakes: Moment | "never"
  readonly repeats: ReadonlyArray<Moment>
  readonly lease: "holds" | "runs out"
  /** A repeat that runs the checkout may die once it has claimed the cart. */
  readonly repeat: "lives" | "dies"
}

type Repeats = Pick<Round, "repeats" | "lease" | "repeat">

const subsets: ReadonlyArray<ReadonlyArray<Moment>> = moments.reduce<ReadonlyArray<ReadonlyArray<Moment>>>(
  (sets, moment) => sets.flatMap((set) => [set, [...set, moment]]),
  [[]]
)

const repeats: ReadonlyArray<Repeats> = [
  { repeats: moments, lease: "runs out", repeat: "lives" },
  { repeats: moments, lease: "holds", repeat: "lives" },
  ...subsets.slice(1).map((set): Repeats => ({ repeats: set, lease: "runs out", repeat: "dies" })),
  ...subsets.slice(0, -1).map((set): Repeats => ({ repeats: set, lease: "runs out", repeat: "lives" }))
]

type Stops = Pick<Round, "card" | "stoppedAt" | "otherAt">

const stops = cards.flatMap((card) =>
  pathOf[card].flatMap((stoppedAt) =>
    [...pathAfter(card, stoppedAt), "its end" as const].map((otherAt): Stops => ({ card, stoppedAt, otherAt }))
  )
)

const fates = ({ otherAt }: Stops) =>
  (["never", ...moments] as const).flatMap((wakes) =>
    // A run that wakes up before the takeover ends by itself.
    (wakes === "before" && otherAt !== "its end" ? [] : [wakes]).flatMap((when) =>
      (otherAt === "its end" ? ["goes on"] as const : ["goes on", "dies"] as const).map((other) => ({
        wakes: when,
        other
      }))
    )
  )

/** Every round, by the places where its runs stop. */
export const roundsByStops: ReadonlyArray<ReadonlyArray<Round>> = stops.map((at) =>
  fates(at).flatMap((fate) => repeats.map((one): Round => ({ ...at, ...fate, ...one })))
)
