-- The shop "Larkspur Goods". Money is integers of the currency's minor unit (1 JPY and 1 KRW are minor units themselves),
-- times are ISO 8601 in UTC, dates are YYYY-MM-DD.
-- No IN in a CHECK: for more than two values SQLite builds a table of them each time a row is written.

CREATE TABLE currencies (currency TEXT PRIMARY KEY, decimals INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE role_limits (
    role TEXT NOT NULL, currency TEXT NOT NULL REFERENCES currencies,
    per_refund_minor INTEGER NOT NULL, per_customer_30d_minor INTEGER NOT NULL,
    PRIMARY KEY (role, currency)
) STRICT, WITHOUT ROWID;

CREATE TABLE staff (
    staff_id TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, active INTEGER NOT NULL CHECK (active = 0
        OR active = 1)
) STRICT, WITHOUT ROWID;

CREATE TABLE customers (
    customer_id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, phone TEXT NOT NULL,
    tier TEXT NOT NULL CHECK (tier = 'standard' OR tier = 'silver' OR tier = 'gold'), country TEXT NOT NULL,
    currency TEXT NOT NULL REFERENCES currencies, language TEXT NOT NULL, created_at TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'active' CHECK (status = 'active' OR status = 'closed')
) STRICT, WITHOUT ROWID;
CREATE INDEX customers_name ON customers (name);

-- Internal: never told to a customer.
CREATE TABLE risk_profiles (
    customer_id TEXT PRIMARY KEY REFERENCES customers,
        fraud_score INTEGER NOT NULL CHECK (fraud_score BETWEEN 0 AND 100),
    internal_note TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE addresses (
    address_id TEXT PRIMARY KEY, customer_id TEXT NOT NULL REFERENCES customers, street TEXT NOT NULL,
    city TEXT NOT NULL, postcode TEXT NOT NULL, country TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX addresses_customer ON addresses (customer_id);

CREATE TABLE suppliers (
    supplier_id TEXT PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL, claims_email TEXT NOT NULL,
    claim_window_days INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE products (
    product_id TEXT PRIMARY KEY, name TEXT NOT NULL,
    category TEXT NOT NULL CHECK (category = 'electronics' OR category = 'apparel' OR category = 'home'
        OR category = 'perishable' OR category = 'digital' OR category = 'gift_card' OR category = 'made_to_order'
        OR category = 'marketplace'),
    list_price_minor INTEGER NOT NULL, currency TEXT NOT NULL REFERENCES currencies,
    supplier_id TEXT REFERENCES suppliers, stock INTEGER NOT NULL CHECK (stock >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE orders (
    order_id TEXT PRIMARY KEY, customer_id TEXT NOT NULL REFERENCES customers,
        address_id TEXT NOT NULL REFERENCES addresses,
    status TEXT NOT NULL CHECK (status = 'processing' OR status = 'shipped' OR status = 'delivered'
        OR status = 'cancelled'),
    placed_at TEXT NOT NULL, currency TEXT NOT NULL REFERENCES currencies, coupon_minor INTEGER NOT NULL,
    shipping_minor INTEGER NOT NULL, shipping_refunded_minor INTEGER NOT NULL DEFAULT 0, total_minor INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX orders_customer ON orders (customer_id, placed_at);

CREATE TABLE shipments (
    shipment_id TEXT PRIMARY KEY, order_id TEXT NOT NULL REFERENCES orders, carrier TEXT NOT NULL,
    tracking_number TEXT NOT NULL, promised_by TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX shipments_order ON shipments (order_id);

CREATE TABLE tracking_events (
    shipment_id TEXT NOT NULL REFERENCES shipments, seq INTEGER NOT NULL, at TEXT NOT NULL,
    code TEXT NOT NULL CHECK (code = 'picked_up' OR code = 'in_transit' OR code = 'out_for_delivery'
        OR code = 'delivery_attempted' OR code = 'delivered' OR code = 'delayed' OR code = 'returned_to_sender'),
    place TEXT NOT NULL, PRIMARY KEY (shipment_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE order_items (
    item_id TEXT PRIMARY KEY, order_id TEXT NOT NULL REFERENCES orders, product_id TEXT NOT NULL REFERENCES products,
    shipment_id TEXT REFERENCES shipments, quantity INTEGER NOT NULL CHECK (quantity > 0),
        unit_price_minor INTEGER NOT NULL,
    discount_minor INTEGER NOT NULL, refunded_minor INTEGER NOT NULL DEFAULT 0, activated_at TEXT, engraving TEXT,
    status TEXT NOT NULL CHECK (status = 'ordered' OR status = 'shipped' OR status = 'delivered'
        OR status = 'partly_refunded' OR status = 'refunded' OR status = 'cancelled')
) STRICT, WITHOUT ROWID;
CREATE INDEX items_order ON order_items (order_id);
CREATE INDEX items_shipment ON order_items (shipment_id);

CREATE TABLE gift_cards (
    gift_card_id TEXT PRIMARY KEY, code TEXT NOT NULL, customer_id TEXT NOT NULL REFERENCES customers,
    currency TEXT NOT NULL REFERENCES currencies, initial_minor INTEGER NOT NULL, balance_minor INTEGER NOT NULL,
    expires_on TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX gift_cards_customer ON gift_cards (customer_id);

CREATE TABLE payments (
    payment_id TEXT PRIMARY KEY, order_id TEXT NOT NULL REFERENCES orders,
    method TEXT NOT NULL CHECK (method = 'card' OR method = 'paypal' OR method = 'bank_transfer'
        OR method = 'gift_card' OR method = 'store_credit'),
    amount_minor INTEGER NOT NULL, currency TEXT NOT NULL REFERENCES currencies,
    refunded_minor INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL, card_last4 TEXT, card_token TEXT,
    gift_card_id TEXT REFERENCES gift_cards,
    status TEXT NOT NULL CHECK (status = 'authorised' OR status = 'captured' OR status = 'voided' OR status = 'failed')
) STRICT, WITHOUT ROWID;
CREATE INDEX payments_order ON payments (order_id);

CREATE TABLE returns (
    return_id TEXT PRIMARY KEY, item_id TEXT NOT NULL REFERENCES order_items, quantity INTEGER NOT NULL,
    reason TEXT NOT NULL, label TEXT NOT NULL CHECK (label = 'shop' OR label = 'customer'),
    status TEXT NOT NULL CHECK (status = 'open' OR status = 'in_transit' OR status = 'inspected'
        OR status = 'cancelled'),
    created_at TEXT NOT NULL, received_at TEXT,
    condition TEXT CHECK (condition = 'sealed' OR condition = 'opened' OR condition = 'used'
        OR condition = 'defective' OR condition = 'wrong_item'), inspection_note TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX returns_item ON returns (item_id);

CREATE TABLE refunds (
    refund_id TEXT PRIMARY KEY, order_id TEXT NOT NULL REFERENCES orders, item_id TEXT REFERENCES order_items,
    payment_id TEXT NOT NULL REFERENCES payments, amount_minor INTEGER NOT NULL,
        currency TEXT NOT NULL REFERENCES currencies,
    reason TEXT NOT NULL, status TEXT NOT NULL CHECK (status = 'completed' OR status = 'pending' OR status = 'failed'),
    created_at TEXT NOT NULL, created_by TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX refunds_order ON refunds (order_id);

CREATE TABLE store_credit (
    entry_id TEXT PRIMARY KEY, customer_id TEXT NOT NULL REFERENCES customers, amount_minor INTEGER NOT NULL,
    currency TEXT NOT NULL REFERENCES currencies, order_id TEXT REFERENCES orders, item_id TEXT REFERENCES order_items,
    reason TEXT NOT NULL, created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX store_credit_customer ON store_credit (customer_id);

CREATE TABLE tickets (
    ticket_id TEXT PRIMARY KEY, customer_id TEXT NOT NULL REFERENCES customers, channel TEXT NOT NULL,
        subject TEXT NOT NULL,
    created_at TEXT NOT NULL, status TEXT NOT NULL CHECK (status = 'open' OR status = 'pending'
        OR status = 'solved' OR status = 'closed')
) STRICT, WITHOUT ROWID;
CREATE INDEX tickets_customer ON tickets (customer_id);

CREATE TABLE ticket_notes (
    note_id TEXT PRIMARY KEY, ticket_id TEXT NOT NULL REFERENCES tickets, author TEXT NOT NULL, body TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ticket_notes_ticket ON ticket_notes (ticket_id);

CREATE TABLE evidence (
    evidence_id TEXT PRIMARY KEY, item_id TEXT NOT NULL REFERENCES order_items,
    kind TEXT NOT NULL CHECK (kind = 'signature' OR kind = 'outer_packaging' OR kind = 'inner_goods'),
    sent_by TEXT NOT NULL CHECK (sent_by = 'carrier' OR sent_by = 'customer'), received_at TEXT NOT NULL,
        shows TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_item ON evidence (item_id);

CREATE TABLE evidence_requests (
    request_id TEXT PRIMARY KEY, ticket_id TEXT NOT NULL REFERENCES tickets,
        item_id TEXT NOT NULL REFERENCES order_items,
    kind TEXT NOT NULL CHECK (kind = 'signature' OR kind = 'outer_packaging' OR kind = 'inner_goods'),
        created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_requests_item ON evidence_requests (item_id);

CREATE TABLE claims (
    claim_id TEXT PRIMARY KEY, party TEXT NOT NULL CHECK (party = 'carrier' OR party = 'supplier'),
    item_id TEXT NOT NULL REFERENCES order_items, shipment_id TEXT REFERENCES shipments,
    supplier_id TEXT REFERENCES suppliers, amount_minor INTEGER NOT NULL, currency TEXT NOT NULL REFERENCES currencies,
    status TEXT NOT NULL CHECK (status = 'open' OR status = 'paid' OR status = 'rejected'), created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX claims_item ON claims (item_id);

CREATE TABLE traces (
    trace_id TEXT PRIMARY KEY, shipment_id TEXT NOT NULL REFERENCES shipments, opened_at TEXT NOT NULL, closed_at TEXT,
    result TEXT CHECK (result = 'delivered_confirmed' OR result = 'not_delivered'), finding TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX traces_shipment ON traces (shipment_id);

CREATE TABLE fraud_reviews (
    review_id TEXT PRIMARY KEY, customer_id TEXT NOT NULL REFERENCES customers, order_id TEXT REFERENCES orders,
    cause TEXT NOT NULL, status TEXT NOT NULL CHECK (status = 'open' OR status = 'cleared' OR status = 'confirmed'),
        opened_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX fraud_reviews_customer ON fraud_reviews (customer_id);

CREATE TABLE replacements (
    replacement_id TEXT PRIMARY KEY, item_id TEXT NOT NULL REFERENCES order_items, quantity INTEGER NOT NULL,
    reason TEXT NOT NULL, created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX replacements_item ON replacements (item_id);

CREATE TABLE limit_overrides (
    override_id TEXT PRIMARY KEY, ticket_id TEXT NOT NULL REFERENCES tickets, amount_minor INTEGER NOT NULL,
    currency TEXT NOT NULL REFERENCES currencies, created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX limit_overrides_ticket ON limit_overrides (ticket_id);

CREATE TABLE carrier_notices (
    notice_id TEXT PRIMARY KEY, carrier TEXT NOT NULL, country TEXT NOT NULL, first_day TEXT NOT NULL,
        last_day TEXT NOT NULL,
    extra_days INTEGER NOT NULL, notice TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE holidays (
    country TEXT NOT NULL, day TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (country, day)
) STRICT, WITHOUT ROWID;
