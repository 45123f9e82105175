import { Schema } from "effect"
import { Rpc, RpcGroup } from "effect/rpc"
import { Customer, CustomerChange, NewCustomer } from "../../domain/customers/Customer.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { CustomersGroup } from "../customers/CustomersApi.ts"
import { RpcAccess } from "./RpcAccess.ts"
import { conflict, notFound } from "./RpcErrors.ts"
import { pageFields, pageOfRecords } from "./RpcLists.ts"
import { likeRoutes } from "./RpcRules.ts"

const like = likeRoutes(CustomersGroup)

/** Customers as staff keeps them, as the routes under `/api/customers` have them. */
export const CustomersRpc = RpcGroup.make(
  Rpc.make("list", { payload: pageFields, success: pageOfRecords(Customer) }).annotateMerge(like("list")),
  Rpc.make("stream", { success: Customer, stream: true }).annotateMerge(like("list")),
  Rpc.make("create", { payload: NewCustomer, success: Customer, error: conflict }).annotateMerge(like("create")),
  Rpc.make("read", { payload: { id: Uuid }, success: Customer, error: notFound }).annotateMerge(like("read")),
  Rpc.make("change", {
    // `metadata` is laid over what is there, or takes its place.
    payload: { id: Uuid, change: CustomerChange, metadataReplace: Schema.optional(Schema.Boolean) },
    success: Customer,
    error: notFound
  }).annotateMerge(like("change"))
).prefix("customers.").middleware(RpcAccess)
