import { HttpApi, OpenApi } from "effect/http-api"
import { OrganizationKeysGroup, PermissionsGroup } from "./access/AccessApi.ts"
import { AddressesGroup } from "./addresses/AddressesApi.ts"
import { AnalyticsGroup } from "./analytics/AnalyticsApi.ts"
import { AuditGroup } from "./audit/AuditApi.ts"
import { AccountsGroup } from "./auth/AccountsApi.ts"
import { ApiKeysGroup, OrganizationsGroup } from "./auth/OrganizationsApi.ts"
import { SessionsGroup, TwoFactorGroup } from "./auth/SessionsApi.ts"
import { CartsGroup } from "./carts/CartsApi.ts"
import { CatalogGroup, VariantsGroup } from "./catalog/CatalogApi.ts"
import { BrandsGroup, CategoriesGroup, CategoryTreeGroup } from "./catalog/CategoriesApi.ts"
import { DraftsGroup, RevisionsGroup, SchedulesGroup } from "./catalog/EntityVersionsApi.ts"
import { FieldDefinitionsGroup } from "./catalog/FieldDefinitionsApi.ts"
import { CapturesGroup, CheckoutGroup, OrderPaymentsGroup } from "./checkout/CheckoutApi.ts"
import {
  CustomerGroupsGroup,
  CustomerRecordsGroup,
  CustomersGroup,
  MeGroup,
  MyOrdersGroup
} from "./customers/CustomersApi.ts"
import { EventsGroup } from "./events/EventsApi.ts"
import { HealthGroup, MetricsGroup } from "./health/HealthApi.ts"
import { ExportsGroup, ImportsGroup } from "./import-export/ImportsApi.ts"
import { InventoryGroup } from "./inventory/InventoryApi.ts"
import { JobsGroup } from "./jobs/JobsApi.ts"
import { MailGroup } from "./mail/MailApi.ts"
import { MessagesGroup } from "./mail/MessagesApi.ts"
import { FilesGroup, MediaGroup, UploadsGroup } from "./media/MediaApi.ts"
import {
  AdminOrdersGroup,
  DownloadsGroup,
  FulfillmentsGroup,
  InvoicesGroup,
  OrderRecordsGroup,
  OrdersGroup
} from "./orders/OrdersApi.ts"
import { CompensationsGroup, PaymentsGroup, RefundsGroup } from "./payments/PaymentsApi.ts"
import { PricingGroup } from "./pricing/PricingApi.ts"
import { PromotionsGroup } from "./promotions/PromotionsApi.ts"
import { MyReturnsGroup, ReturnsGroup } from "./returns/ReturnsApi.ts"
import { SearchGroup } from "./search/SearchApi.ts"
import { ShippingGroup, ShippingQuotesGroup } from "./shipping/ShippingApi.ts"
import { StaffGroup } from "./staff/StaffApi.ts"
import { TaxClassesGroup, TaxRatesGroup } from "./tax/TaxApi.ts"
import { WebhooksGroup } from "./webhooks/WebhooksApi.ts"

/** Prefix, middleware and access are on each group: handlers built against one group lose what is on the root. */
export const Api = HttpApi.make("stoa")
  .add(HealthGroup)
  .add(MetricsGroup)
  .add(CatalogGroup)
  .add(CategoriesGroup)
  .add(CategoryTreeGroup)
  .add(BrandsGroup)
  .add(VariantsGroup)
  .add(MediaGroup)
  .add(UploadsGroup)
  .add(FilesGroup)
  .add(SchedulesGroup)
  .add(RevisionsGroup)
  .add(FieldDefinitionsGroup)
  .add(DraftsGroup)
  .add(SearchGroup)
  .add(PricingGroup)
  .add(PromotionsGroup)
  .add(TaxClassesGroup)
  .add(TaxRatesGroup)
  .add(ShippingGroup)
  .add(ShippingQuotesGroup)
  .add(AddressesGroup)
  .add(InventoryGroup)
  .add(CartsGroup)
  .add(CheckoutGroup)
  .add(OrdersGroup)
  .add(AdminOrdersGroup)
  .add(OrderRecordsGroup)
  .add(FulfillmentsGroup)
  .add(InvoicesGroup)
  .add(PaymentsGroup)
  .add(CapturesGroup)
  .add(OrderPaymentsGroup)
  .add(RefundsGroup)
  .add(CompensationsGroup)
  .add(ReturnsGroup)
  .add(MeGroup)
  .add(MyOrdersGroup)
  .add(MyReturnsGroup)
  .add(DownloadsGroup)
  .add(MailGroup)
  .add(MessagesGroup)
  .add(CustomersGroup)
  .add(CustomerGroupsGroup)
  .add(CustomerRecordsGroup)
  .add(WebhooksGroup)
  .add(JobsGroup)
  .add(EventsGroup)
  .add(AuditGroup)
  .add(AnalyticsGroup)
  .add(ImportsGroup)
  .add(ExportsGroup)
  .add(StaffGroup)
  .add(OrganizationKeysGroup)
  .add(PermissionsGroup)
  .add(SessionsGroup)
  .add(AccountsGroup)
  .add(TwoFactorGroup)
  .add(OrganizationsGroup)
  .add(ApiKeysGroup)
  .annotateMerge(OpenApi.annotations({
    title: "Stoa",
    description:
      "A headless commerce backend. A request with an unknown field in its body or an unknown query parameter is " +
      "accepted, and `X-Ignored-Fields` in the answer names them. Bodies that set a price, a limit, a condition, a " +
      "right or a time refuse unknown fields, and so does every request with `Prefer: handling=strict` (RFC 7240): " +
      "422 with the code `unknown_key`.",
    // Relative to the document's address: valid behind every proxy.
    servers: [{ url: "/" }]
  }))

export const OperatorApi = HttpApi.make("stoa").add(HealthGroup).add(MetricsGroup)
