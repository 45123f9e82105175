import { executeSync, GraphQLError, parse, validate } from "graphql"
import { connection, gid, idIn, isoTime, type PageArgs, type ShopifyContext, type ShopifySite } from "./ShopifyPages.ts"
import { shopifySchema, type ShopifyVersion } from "./ShopifySchema.ts"

interface Operation {
  readonly id: number
  readonly query: string
  readonly created: number
  readonly lines: ReadonlyArray<{ readonly depth: number; readonly text: string }>
  status: "CREATED" | "RUNNING" | "COMPLETED" | "EXPIRED" | "FAILED"
  polls: number
  completed: number | null
  errorCode: string | null
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Bulk queries of the emulated Shopify. An operation is done after so many polls. */
export class ShopifyBulk {
  pollsUntilDone = 2
  /** Whether the storage still has the files. */
  keepsFiles = true
  /** The next operation fails in this way. */
  fails: "INTERNAL_SERVER_ERROR" | "TIMEOUT" | undefined
  private readonly operations: Array<Operation> = []
  private readonly site: ShopifySite
  private readonly root: () => object

  constructor(site: ShopifySite, root: () => object) {
    this.site = site
    this.root = root
  }

  run({ groupObjects, query }: { readonly groupObjects: boolean; readonly query: string }, version: ShopifyVersion) {
    const refuse = (message: string, code: string | null = "INVALID") => ({
      bulkOperation: null,
      userErrors: [{ code, field: ["query"], message }]
    })
    const busy = this.operations.filter(({ completed }) => completed === null).length
    if (busy >= 5) {
      return refuse("A bulk query operation for this app and shop is already in progress", "OPERATION_IN_PROGRESS")
    }
    try {
      const document = parse(query)
      const [invalid] = validate(shopifySchema(version), document)
      if (invalid !== undefined) return refuse(`Invalid bulk query: ${invalid.message}`)
      const contextValue = { bulk: true, version }
      const { data, errors } = executeSync({
        schema: shopifySchema(version),
        document,
        rootValue: this.root(),
        contextValue
      })
      if (errors?.[0] !== undefined) return refuse(errors[0].message)
      const roots = Object.values(data ?? {})
      if (roots.length !== 1 || nodesOf(roots[0]) === undefined) {
        return refuse("Bulk queries must contain one connection at the top")
      }
      const lines = linesOf(nodesOf(roots[0]) ?? [])
      const operation: Operation = {
        id: this.site.nextId(),
        query,
        created: this.site.now(),
        lines: groupObjects ? lines : lines.toSorted((left, right) => left.depth - right.depth),
        status: "CREATED",
        polls: 0,
        completed: null,
        errorCode: null
      }
      this.operations.push(operation)
      return { bulkOperation: this.view(operation), userErrors: [] }
    } catch (error) {
      if (error instanceof GraphQLError) return refuse(`Invalid bulk query: ${error.message}`)
      throw error
    }
  }

  poll = ({ id }: { id?: string }) => {
    const operation = id === undefined
      ? this.operations.at(-1)
      : this.operations.find((one) => one.id === idIn("BulkOperation", id))
    if (operation === undefined) return null
    if (operation.completed === null) {
      operation.polls++
      operation.status = operation.polls < this.pollsUntilDone
        ? "RUNNING"
        : this.fails === undefined
        ? "COMPLETED"
        : "FAILED"
      if (operation.status !== "RUNNING") {
        Object.assign(operation, { completed: this.site.now(), errorCode: this.fails ?? null })
        this.fails = undefined
        this.site.tell("bulk_operations/finish", {
          admin_graphql_api_id: gid("BulkOperation", operation.id),
          completed_at: isoTime(this.site.now()),
          error_code: operation.errorCode?.toLowerCase() ?? null,
          status: operation.status.toLowerCase(),
          type: "query"
        })
      }
    }
    return this.view(operation)
  }

  list = (args: PageArgs & { readonly reverse: boolean }, context: ShopifyContext) =>
    connection(
      () => args.reverse ? this.operations.toReversed() : this.operations,
      (one) => this.view(one)
    )(args, context)

  /** Files are gone after seven days. */
  expire(): void {
    for (const one of this.operations) one.status = "EXPIRED"
  }

  /** The file of an operation, one object a line. */
  file(id: number): string | undefined {
    const files = this.keepsFiles ? this.operations : []
    return files.find((one) => one.id === id && one.status === "COMPLETED")?.lines.map(({ text }) => `${text}\n`).join(
      ""
    )
  }

  private view({ completed, created, errorCode, id, lines, query, status }: Operation) {
    // There is no file when nothing was found.
    const done = status === "COMPLETED" && lines.length > 0
    return {
      __typename: "BulkOperation",
      id: gid("BulkOperation", id),
      type: "QUERY",
      status,
      query,
      errorCode,
      createdAt: isoTime(created),
      completedAt: completed === null ? null : isoTime(completed),
      objectCount: String(status === "CREATED" ? 0 : lines.length),
      rootObjectCount: String(status === "CREATED" ? 0 : lines.filter(({ depth }) => depth === 0).length),
      fileSize: done ? String(this.file(id)?.length) : null,
      url: done ? `${this.site.url}/bulk/${id}.jsonl` : null,
      partialDataUrl: null
    }
  }
}

const nodesOf = (value: unknown): ReadonlyArray<unknown> | undefined => {
  if (!isRecord(value)) return undefined
  const { edges, nodes } = value
  if (Array.isArray(nodes)) return nodes
  return Array.isArray(edges) ? edges.map((edge: unknown) => isRecord(edge) ? edge["node"] : undefined) : undefined
}

/** An object a line; what lies in a connection of another object is a line with `__parentId`. */
const linesOf = (nodes: ReadonlyArray<unknown>, parent?: unknown, depth = 0): Operation["lines"] =>
  nodes.filter(isRecord).flatMap((node) => {
    const nested: Array<ReadonlyArray<unknown>> = []
    const strip = (value: unknown): unknown =>
      isRecord(value)
        ? Object.fromEntries(
          Object.entries(value).flatMap(([name, field]) => {
            const inner = nodesOf(field)
            if (inner === undefined) return [[name, strip(field)]]
            nested.push(inner)
            return []
          })
        )
        : value
    const own = strip(node)
    const text = JSON.stringify(parent === undefined ? own : { ...isRecord(own) ? own : {}, __parentId: parent })
    return [{ depth, text }, ...nested.flatMap((inner) => linesOf(inner, node["id"], depth + 1))]
  })
