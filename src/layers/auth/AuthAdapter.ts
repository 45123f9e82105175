import { APIError, BASE_ERROR_CODES } from "@better-auth/core/error"
import type { BetterAuthOptions } from "better-auth"
import { createAdapterFactory, type CustomAdapter, type DBAdapter } from "better-auth/adapters"
import { Effect } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { insertRecorded, recordedChange } from "../../domain/auth/AuthChangeLogRepo.ts"
import { type Actor, CurrentActor } from "../../domain/platform/access/Actor.ts"
import { aliasOf, withoutAlias } from "../../http/auth/EmailAlias.ts"
import { columnOf, type Condition, conditionOf, sessionTokens } from "./AuthConditions.ts"
import { SessionFactor } from "./AuthGuards.ts"
import type { AuthScope } from "./AuthScope.ts"
import { SignUpBrowser } from "./Verification.ts"

type Row = Record<string, unknown>
type Sql = SqlClient.SqlClient
type Creator = Parameters<typeof createAdapterFactory>[0]["adapter"]
type Tools = Parameters<Creator>[0]

const columnsOf = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).filter(([, value]) => value !== undefined).map(([field, value]) => [columnOf(field), value])
  )

const modelOf = ({ getDefaultModelName, getFieldAttributes, schema }: Tools, name: string) => {
  const model = getDefaultModelName(name)
  const own = ["id", ...Object.entries(schema[model]?.fields ?? {}).map(([key, { fieldName }]) => fieldName ?? key)]
  const fields = new Map(own.map((field) => [columnOf(field), field]))
  const isOrganization = (of: string) => getDefaultModelName(of) === "organization"
  return {
    toFields: (row: Row): Row =>
      Object.fromEntries(Object.entries(row).map(([column, value]) => [fields.get(column) ?? column, value])),
    isUuid: (field: string): boolean => {
      if (field === "id") return !isOrganization(model)
      const { references } = getFieldAttributes({ model, field })
      return references?.field === "id" && !isOrganization(references.model)
    }
  }
}

const sortedBy = (sql: Sql, sortBy: { readonly field: string; readonly direction: "asc" | "desc" } | undefined) =>
  sortBy === undefined
    ? sql``
    : sql`order by ${sql(columnOf(sortBy.field))} ${sql.literal(sortBy.direction === "desc" ? "desc" : "asc")}`

const assigned = (sql: Sql, table: string, set: object, increments: Readonly<Record<string, number>> = {}) =>
  sql.csv([
    ...Object.entries(columnsOf({ ...set })).map(([column, value]) => sql`${sql(column)} = ${value}`),
    ...Object.entries(increments).map(([field, by]) =>
      sql`${sql(columnOf(field))} = coalesce(${sql(table)}.${sql(columnOf(field))}, 0) + ${by}`
    )
  ])

/**
 * Locks the rows first, which checks the condition again after a wait; the change log records them before (`w`) and
 * after (`r`).
 */
const updating = (sql: Sql, actor: Actor, table: string, rows: Statement.Fragment, set: Statement.Fragment) =>
  sql`with w as materialized (select * from ${sql(table)} where ${rows} for update),
    r as (update ${sql(table)} set ${set} from w where ${sql(table)}.id = w.id returning ${sql(table)}.*)${
    recordedChange(sql, actor, table, "updated")
  }`

const deleting = (sql: Sql, actor: Actor, table: string, rows: Statement.Fragment) =>
  sql`with r as (delete from ${sql(table)} where ${rows} returning *)${recordedChange(sql, actor, table, "deleted")}`

const ownColumns = Effect.fnUntraced(function*(table: string, { organizationId }: Actor) {
  if (table === "api_keys") return { organization_id: organizationId, second_factor: yield* SessionFactor }
  const browser = table === "users" ? yield* SignUpBrowser : undefined
  return browser === undefined ? {} : { sign_up_browser: browser }
})

type Body = (sql: Sql, actor: Actor) => Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>

const first = <T>(rows: ReadonlyArray<T>): T | null => rows[0] ?? null

const inEmail = (convert: (email: string) => string, field: string, value: unknown): unknown => {
  const converted = (one: unknown) => typeof one === "string" ? convert(one) : one
  return field !== "email" ? value : Array.isArray(value) ? value.map(converted) : converted(value)
}

const inRow = (convert: (email: string) => string, row: Row): Row =>
  "email" in row ? { ...row, email: inEmail(convert, "email", row["email"]) } : row

const statementsOf = (scope: AuthScope, tools: Tools) => {
  const tokens = sessionTokens(scope)
  const models = new Map<string, ReturnType<typeof modelOf>>()
  const known = (name: string) => {
    const model = models.get(name) ?? modelOf(tools, name)
    models.set(name, model)
    return model
  }
  const matches = (sql: Sql, model: string, where: ReadonlyArray<Condition> = []) => {
    const conditions = where.map((one) => ({ ...one, value: inEmail(withoutAlias, one.field, one.value) }))
    return conditionOf(sql, tokens.conditions(model, conditions), known(model).isUuid)
  }
  const statement = (body: Body) =>
    scope.statement(
      Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.flatMap(CurrentActor, (actor) => body(sql, actor)))
    )
  return {
    matches,
    written: (model: string, row: Row, where?: ReadonlyArray<Condition>): Row =>
      tokens.written(model, inRow(withoutAlias, row), where),
    listed: (sql: Sql, model: string, select: ReadonlyArray<string> = []): Statement.Fragment =>
      select.length === 0
        ? sql`*`
        : sql.csv(select.map((field) => sql`${sql(columnOf(tools.getFieldName({ model, field })))}`)),
    oneOf: (sql: Sql, model: string, where: ReadonlyArray<Condition>): Statement.Fragment => {
      const condition = matches(sql, model, where)
      return sql`id = (select id from ${sql(model)} where ${condition} limit 1) and ${condition}`
    },
    query: <T>(
      model: string,
      body: Body
    ): Promise<ReadonlyArray<T>> =>
      statement(body).then((rows) =>
        rows.map((row) => tokens.shown(model, inRow(aliasOf, known(model).toFields(row))) as T)
      ),
    count: (body: Body): Promise<number> => statement(body).then((rows) => Number(rows[0]?.["count"] ?? 0))
  }
}

const isUser = ({ user }: BetterAuthOptions, model: string): boolean => model === (user?.modelName ?? "user")

/**
 * The later of two concurrent sign-ups with one address answers like any later one. With verification better-auth takes
 * 403 as "answer as if created".
 */
const refusalOf = (options: BetterAuthOptions, model: string, error: unknown): unknown => {
  if (!isUser(options, model) || !JSON.stringify(error)?.includes("\"23505\"")) return error
  return options.emailAndPassword?.requireEmailVerification === true
    ? new APIError("FORBIDDEN")
    : APIError.from("UNPROCESSABLE_ENTITY", BASE_ERROR_CODES.USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL)
}

const operationsOf = (scope: AuthScope, tools: Tools): CustomAdapter => {
  const { count, listed, matches, oneOf, query, written } = statementsOf(scope, tools)
  return {
    create: <T extends Row>({ data, model }: { readonly model: string; readonly data: T }) =>
      query<T>(model, (sql, actor) => {
        const insert = Effect.flatMap(
          ownColumns(model, actor),
          (own) => insertRecorded(sql, actor, model, { ...columnsOf(written(model, data)), ...own })
        )
        // In a savepoint: the transaction survives a taken address.
        return isUser(tools.options, model) ? sql.withTransaction(insert) : insert
      })
        .then((rows) => rows[0] ?? data, (error: unknown) => Promise.reject(refusalOf(tools.options, model, error))),
    findOne: <T>({ model, select, where }: Parameters<CustomAdapter["findOne"]>[0]) =>
      query<T>(
        model,
        (sql) =>
          sql`select ${listed(sql, model, select)} from ${sql(model)} where ${matches(sql, model, where)} limit 1`
      ).then(first),
    findMany: <T>({ limit, model, offset, select, sortBy, where }: Parameters<CustomAdapter["findMany"]>[0]) =>
      query<T>(
        model,
        (sql) =>
          sql`select ${listed(sql, model, select)} from ${sql(model)} where ${matches(sql, model, where)}
          ${sortedBy(sql, sortBy)} limit ${limit} offset ${offset ?? 0}`
      ).then((rows) => [...rows]),
    count: ({ model, where }) =>
      count((sql) => sql`select count(*) from ${sql(model)} where ${matches(sql, model, where)}`),
    update: <T>({ model, update, where }: { model: string; where: Array<Condition>; update: T }) =>
      where.length === 0
        ? Promise.resolve(null)
        : query<T>(model, (sql, actor) => {
          const set = written(model, Object(update), where)
          const row = oneOf(sql, model, where)
          return Object.keys(columnsOf(set)).length === 0
            ? sql`select * from ${sql(model)} where ${row}`
            : sql`${updating(sql, actor, model, row, assigned(sql, model, set))} select * from r`
        }).then(first),
    updateMany: ({ model, update, where }) =>
      count((sql, actor) =>
        sql`${updating(sql, actor, model, matches(sql, model, where), assigned(sql, model, update))}
          select count(*) from r`
      ),
    delete: ({ model, where }) =>
      query<Row>(model, (sql, actor) => sql`${deleting(sql, actor, model, matches(sql, model, where))} select 1`).then(
        () => undefined
      ),
    deleteMany: ({ model, where }) =>
      count((sql, actor) => sql`${deleting(sql, actor, model, matches(sql, model, where))} select count(*) from r`),
    consumeOne: <T>({ model, where }: { model: string; where: Array<Condition> }) =>
      query<T>(model, (sql) => sql`delete from ${sql(model)} where ${oneOf(sql, model, where)} returning *`).then(
        first
      ),
    incrementOne: <T>({ increment, model, set, where }: Parameters<NonNullable<CustomAdapter["incrementOne"]>>[0]) =>
      query<T>(
        model,
        (sql, actor) =>
          sql`${updating(sql, actor, model, oneOf(sql, model, where), assigned(sql, model, set ?? {}, increment))}
          select * from r`
      ).then(first)
  }
}

/**
 * better-auth's storage: tables of `domain/auth/migrations.ts`, columns in snake case. Statements join the scope's
 * transaction and write change log entries.
 */
export const authAdapter = (scope: AuthScope) => (options: BetterAuthOptions): DBAdapter => {
  const adapter: DBAdapter = createAdapterFactory({
    config: {
      adapterId: "stoa",
      adapterName: "Stoa",
      supportsUUIDs: true,
      supportsNumericIds: false,
      transaction: (body) => scope.transaction(() => body(adapter)),
      customTransformOutput: ({ data }) => typeof data === "bigint" ? Number(data) : data
    },
    adapter: (tools) => operationsOf(scope, tools)
  })(options)
  return adapter
}
