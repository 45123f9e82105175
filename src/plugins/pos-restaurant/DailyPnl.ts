import { Effect, Schema, Struct } from "effect"
import {
  about,
  amount,
  childOf,
  date,
  fieldsOf,
  inputOf,
  integerBetween,
  json,
  machine,
  MinorUnits,
  oneOf,
  type PluginDatabase,
  resource,
  type RowOf,
  table,
  text,
  uuid,
  type View
} from "stoa/plugin"
import { admin, routes } from "./RestaurantOptions.ts"

/** Profit and loss of a day, as somebody enters it; minor units. A date stands once (contract-tills-channels B, 26). */
export const dailyPnl = table("pos_daily_pnl", {
  date: date.unique().about("Business day."),
  grossSales: amount.about("Sales before discounts."),
  netSales: amount.about("Sales after discounts, without tax."),
  costOfGoods: amount.about("Ingredients of what was sold."),
  directExpenses: amount.about("Sum of the direct expenses."),
  indirectExpenses: amount.about("Sum of the indirect expenses."),
  employeeCosts: amount.about("Sum of wages."),
  grossProfit: amount.about("Net sales without the cost of goods."),
  netProfit: amount.about("Gross profit without all expenses."),
  transactionCount: integerBetween(0, 1_000_000_000).about("Number of sales."),
  averageBillValue: amount.about("Gross sales of one bill."),
  status: oneOf(["draft", "submitted"]).default("draft").about("A submitted report cannot be changed."),
  metadata: json.default({})
}, { strict: true })

export const pnlExpenses = childOf(dailyPnl, "pnlId", "pos_pnl_expenses", {
  pnlId: uuid.references(dailyPnl),
  position: integerBetween(0, 1_000),
  category: oneOf(["cogs", "direct", "indirect", "employee"]).forPeople.about(
    "Sum that it is part of; cogs is the cost of the goods sold."
  ),
  name: text,
  amount,
  percentage: integerBetween(0, 100).nullable.forPeople.about("Share of net sales in per cent.")
})

const pnl = machine(dailyPnl, { noun: "daily report", moves: { submit: { from: ["draft"], to: "submitted" } } })

const Minor = MinorUnits.check(Schema.isBetween({ minimum: -1_000_000_000_000, maximum: 1_000_000_000_000 }))
const figures = {
  grossSales: Minor,
  netSales: Minor,
  costOfGoods: Minor,
  directExpenses: Minor,
  indirectExpenses: Minor,
  employeeCosts: Minor,
  transactionCount: dailyPnl.columns.transactionCount.schema
}
const others = {
  expenses: Schema.optional(
    Schema.Array(
      Schema.Struct({
        ...inputOf(pnlExpenses, { required: ["category", "name"], optional: ["percentage"] }).fields,
        amount: Minor
      })
    ).check(Schema.isMaxLength(500)).annotate({
      description: "Entries that the figures are made of; they are not added up."
    })
  ),
  metadata: Schema.optional(dailyPnl.columns.metadata.sent)
}
const Change = Schema.Struct({ ...Struct.map(figures, Schema.optional), ...others })

type Figures = Pick<RowOf<typeof dailyPnl>, keyof typeof figures>

const withProfit = (of: Figures) => {
  const grossProfit = of.netSales - of.costOfGoods - of.directExpenses
  return {
    ...of,
    grossProfit,
    netProfit: grossProfit - of.indirectExpenses - of.employeeCosts,
    averageBillValue: of.transactionCount === 0 ? 0 : Math.round(of.grossSales / of.transactionCount)
  }
}

type Expenses = NonNullable<typeof Change.Type["expenses"]>

const writeExpenses = (db: PluginDatabase, pnlId: string, expenses: Expenses) =>
  expenses.length === 0
    ? Effect.void
    : db.table(pnlExpenses).insertMany(expenses.map((one, position) => ({ ...one, pnlId, position })))

const PnlView = Schema.Struct({
  ...fieldsOf(dailyPnl),
  expenses: Schema.Array(Schema.Struct(Struct.omit(fieldsOf(pnlExpenses), ["pnlId", "position", "createdAt"]))).pipe(
    about("Expenses of the day.")
  )
}).annotate({ identifier: "PosDailyPnl" })

const view: View<typeof dailyPnl, typeof PnlView.Type> = {
  success: PnlView,
  show: (rows, { db }) =>
    Effect.map(
      db.table(pnlExpenses).list({ pnlId: { in: rows.map(({ id }) => id) } }, { order: ["position"] }),
      (expenses) => rows.map((row) => ({ ...row, expenses: expenses.filter(({ pnlId }) => pnlId === row.id) }))
    )
}

/** Changes a draft, whose figures follow. 404; 422 when it is submitted. */
const change = Effect.fnUntraced(
  function*(db: PluginDatabase, id: string, { expenses, metadata, ...named }: typeof Change.Type) {
    const old = yield* db.use(pnl).lock("submit", id)
    if (expenses !== undefined) {
      const gone = yield* db.table(pnlExpenses).list({ pnlId: id })
      yield* Effect.forEach(gone, (one) => db.table(pnlExpenses).delete(one.id), { discard: true })
      yield* writeExpenses(db, id, expenses)
    }
    const given = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined))
    return yield* db.table(dailyPnl).update(id, {
      ...withProfit({ ...Struct.pick(old, Struct.keys(figures)), ...given }),
      metadata
    })
  },
  (work, db) => db.transaction(work)
)

export const pnlRoutes = resource(routes, "/analytics/daily-pnl", dailyPnl, {
  noun: "daily report",
  read: admin,
  write: admin,
  filters: ["status"],
  order: ["-date", "id"],
  view,
  machine: pnl,
  create: {
    summary: "Create profit and loss of a day",
    description:
      "grossProfit = netSales - costOfGoods - directExpenses; netProfit = grossProfit - indirectExpenses - " +
      "employeeCosts. 409 when the date has a report.",
    input: Schema.Struct({ date: dailyPnl.columns.date.schema, ...figures, ...others }),
    answer: ({ db, input: { date, expenses = [], metadata, ...named } }) =>
      db.transaction(
        Effect.tap(
          db.table(dailyPnl).insert({ date, metadata, ...withProfit(named) }),
          ({ id }) => writeExpenses(db, id, expenses)
        )
      )
  },
  patch: {
    summary: "Change a draft of a daily report",
    description: "`expenses` replace those that it has. 404 without it; 422 INVALID_TRANSITION when it is submitted.",
    input: Change,
    answer: ({ db, input, params }) => change(db, params.id, input)
  },
  remove: false
})
