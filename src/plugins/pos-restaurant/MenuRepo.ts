import { Schema } from "effect"
import { EntityId, OrderId, rowsOf, statement, VariantId } from "stoa/plugin"
import { itemGroupIn, titleIn } from "./ItemGroupsRepo.ts"

/** An option of a modifier, or an item of a combo. */
const Choice = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  priceAdjustment: Schema.Int,
  isAvailable: Schema.Boolean,
  /** Of a combo's item. */
  entityId: Schema.NullOr(EntityId)
})
const Choices = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  minSelect: Schema.Int,
  maxSelect: Schema.Int,
  choices: Schema.Array(Choice)
})
export type Choices = typeof Choices.Type

const Dish = Schema.Struct({
  id: EntityId,
  title: Schema.NullOr(Schema.String),
  taxClassTakeaway: Schema.NullOr(Schema.String),
  modifiers: Schema.Array(Choices),
  combo: Schema.NullOr(Schema.Struct({
    name: Schema.String,
    price: Schema.NullOr(Schema.Int),
    groups: Schema.Array(Choices)
  })),
  isAvailable: Schema.Boolean,
  remaining: Schema.NullOr(Schema.Int)
})
/** An entity as its menu sells it. */
export type Dish = typeof Dish.Type

const dishes = rowsOf(Dish)

/** Reads how a menu sells entities, and the entities of these items of combos. One statement. */
export const dishesOf = statement(
  "Menu.dishes",
  function*(
    sql,
    organizationId,
    entityIds: ReadonlyArray<EntityId>,
    itemIds: ReadonlyArray<string>,
    now: Date
  ) {
    return yield* dishes(sql`with named as (
        select unnest(${entityIds}::uuid[]) as id
        union
        select i.entity_id from pos_combo_items i
        join pos_combo_groups cg on cg.id = i.group_id and cg.organization_id = ${organizationId}
        where i.id = any(${itemIds}::uuid[])
      ), sold as (
        select e.id, ${titleIn(sql)} as title, e.metadata->>'taxClassTakeaway' as tax_class,
          ${itemGroupIn(sql)} as item_group
        from named join plugin_entities e on e.organization_id = ${organizationId} and e.id = named.id
      )
      select sold.id, sold.title, sold.tax_class as "taxClassTakeaway",
        array(select jsonb_build_object('id', g.id, 'name', g.name, 'maxSelect', g.max_select,
            'minSelect', greatest(g.min_select, g.is_required::int4),
            'choices', array(select jsonb_build_object('id', o.id, 'name', o.name, 'entityId', null,
                'priceAdjustment', o.price_adjustment, 'isAvailable', o.is_available)
              from pos_modifier_options o where o.group_id = g.id))
          from pos_modifier_groups g where g.organization_id = ${organizationId}
            and (g.entity_id = sold.id or g.item_group = sold.item_group)
          order by g.sort_order, g.id) as modifiers,
        (select jsonb_build_object('name', c.name, 'price', c.price, 'groups', array(
            select jsonb_build_object('id', cg.id, 'name', cg.name, 'minSelect', cg.min_select,
              'maxSelect', cg.max_select, 'choices', array(
                select jsonb_build_object('id', i.id, 'name', i.item_name, 'priceAdjustment', i.price_adjustment,
                  'isAvailable', true, 'entityId', i.entity_id)
                from pos_combo_items i where i.group_id = cg.id))
            from pos_combo_groups cg where cg.organization_id = ${organizationId} and cg.combo_id = c.id
            order by cg.created_at, cg.id))
          from pos_combos c where c.organization_id = ${organizationId} and c.entity_id = sold.id and c.is_active) as combo,
        coalesce(menu.is_available, true) as "isAvailable", menu.remaining
      from sold left join pos_menu_availability menu on menu.organization_id = ${organizationId}
        and menu.entity_id = sold.id and (menu.until is null or menu.until > ${now})`)
  }
)

const OrderedLine = Schema.Struct({
  id: Schema.String,
  orderId: OrderId,
  isCancelled: Schema.Boolean,
  placedAt: Schema.Date,
  entityId: EntityId,
  variantId: Schema.NullOr(VariantId),
  quantity: Schema.Int,
  metadata: Schema.Record(Schema.String, Schema.Unknown)
})
export type OrderedLine = typeof OrderedLine.Type
const orderedLines = rowsOf(OrderedLine)

/** Reads the lines of orders. */
export const linesOfOrders = statement("Menu.orderLines", function*(sql, organizationId, ids: ReadonlyArray<OrderId>) {
  return yield* orderedLines(sql`select l.id, o.id as "orderId", o.status = 'cancelled' as "isCancelled",
      o.placed_at as "placedAt", l.entity_id as "entityId", l.variant_id as "variantId", l.quantity, l.metadata
    from plugin_orders o
    join plugin_order_lines l on l.organization_id = o.organization_id and l.order_id = o.id
    where o.organization_id = ${organizationId} and o.id = any(${ids}::uuid[])
    order by o.id, l.position`)
})

const firedLines = rowsOf(Schema.Struct({
  entityId: EntityId,
  variantId: Schema.NullOr(VariantId),
  metadata: Schema.Record(Schema.String, Schema.Unknown),
  units: Schema.Int
}))

/** Reads how many units the kitchen has of the lines of a transaction, as `batchesOf` counts them. */
export const firedUnitsOf = statement("Menu.fired", function*(sql, organizationId, transactionId: string) {
  return yield* firedLines(sql`select line.entity_id as "entityId", line.variant_id as "variantId", line.metadata,
      sum(batch.units)::int4 as units
    from pos_transactions sale
    join pos_transaction_items line on line.transaction_id = sale.id and line.removed_at is null
    join lateral (select max(dish.units) as units
      from (select ticket.transaction_id, ticket.fired_at,
          sum(item.quantity - item.cancelled_quantity) / min(item.per_unit) as units
        from kds_ticket_items item join kds_tickets ticket on ticket.id = item.ticket_id
        where item.line_id = line.id
        group by ticket.transaction_id, ticket.fired_at, item.station_id, item.entity_id, item.variant_id,
          item.item_name) dish
      group by dish.transaction_id, dish.fired_at) batch on true
    where sale.organization_id = ${organizationId} and sale.id::text = ${transactionId}
    group by line.id`)
})
